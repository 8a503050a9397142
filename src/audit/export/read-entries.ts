import { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import type { Period } from '../reports/period.ts'
import type { QueryContext } from '../reports/query-context.ts'

/** Events of one statement. An aborted export waits for the end of the present one. */
const EVENTS_PER_QUERY = 20_000

/** All events of a period in order, page by page. Events never change, so no transaction is needed. */
export async function* readEntries(
  url: string,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
): AsyncGenerator<readonly LedgerEntry[], void> {
  onPlanned(last - first + 1)
  const snapshot = await Snapshot.connect(url, signal)
  try {
    for (let from = first; from <= last; from += EVENTS_PER_QUERY) {
      for await (const page of snapshot.events(from, Math.min(last, from + EVENTS_PER_QUERY - 1))) {
        signal.throwIfAborted()
        const entries: LedgerEntry[] = []
        for (const rows = new EventRowReader(page); rows.next(); ) entries.push(rows.entry)
        yield entries
        onScanned(entries.length)
      }
    }
  } finally {
    await snapshot.close()
  }
}
