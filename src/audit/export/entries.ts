import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { ChainedEntry } from '../../ledger/chain.ts'
import { eventColumns, parseEntry } from '../../ledger/recorded.ts'
import type { TextRow } from '../../ledger/row-table.ts'
import type { Reading } from '../ask.ts'
import type { Period } from '../period.ts'

/** Events of one page. */
const PAGE = 2_000

/** All events of a period in order, page by page. They do not change, so that no transaction need hold them. */
export async function* entriesOf(
  db: Kysely<Tables>,
  { first, last }: Period,
  { signal, ahead, looked }: Reading,
): AsyncGenerator<readonly ChainedEntry[], void> {
  ahead(last - first + 1)
  if (first > last) return
  let reading = page(db, first, last)
  for (let from = first; from <= last; from += PAGE) {
    signal.throwIfAborted()
    const rows = await reading
    // The database goes on while this page is worked on; should it fail, the next turn hears of it.
    reading = page(db, from + PAGE, last)
    reading.catch(() => {})
    yield rows.map(parseEntry)
    looked(Math.min(PAGE, last - from + 1))
  }
}

async function page(db: Kysely<Tables>, from: number, last: number): Promise<readonly TextRow[]> {
  if (from > last) return []
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.position between ${from} and ${Math.min(last, from + PAGE - 1)} order by e.position`.execute(db)
  return rows
}
