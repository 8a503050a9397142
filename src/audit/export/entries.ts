import { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import type { Period } from '../reports/period.ts'
import type { Reading } from '../reports/query-context.ts'

/** Events of one statement: whoever ends the reading waits for no more. */
const STEP = 20_000

/** All events of a period in order, page by page. They do not change, so that no transaction need hold them. */
export async function* entriesOf(
  url: string,
  { first, last }: Period,
  { signal, ahead, looked }: Reading,
): AsyncGenerator<readonly LedgerEntry[], void> {
  ahead(last - first + 1)
  const snapshot = await Snapshot.connect(url)
  try {
    for (let from = first; from <= last; from += STEP) {
      for await (const page of snapshot.events(from, Math.min(last, from + STEP - 1))) {
        signal.throwIfAborted()
        const entries: LedgerEntry[] = []
        for (const rows = new EventRowReader(page); rows.next(); ) entries.push(rows.entry)
        yield entries
        looked(entries.length)
      }
    }
  } finally {
    await snapshot.close()
  }
}
