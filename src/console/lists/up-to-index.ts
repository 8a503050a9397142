import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { readIndexed } from '../../ledger/indexes/index-reads.ts'
import { IndexLagExceeded } from '../../ledger/indexes/latest-entries.ts'

/**
 * Reads something as of a position. While the index of accounts is too far behind it, as under a long burst of gifts, what
 * asked for no position of its own is read as of the end of the index; else throws `IndexLagExceeded`.
 */
export async function upToIndex<Result>(
  db: Kysely<Tables>,
  at: number,
  asksForPosition: boolean,
  read: (at: number) => Promise<Result>,
): Promise<{ readonly result: Result; readonly at: number }> {
  try {
    return { result: await read(at), at }
  } catch (error) {
    if (!(error instanceof IndexLagExceeded) || asksForPosition) throw error
    const indexed = await readIndexed(db)
    return { result: await read(indexed), at: indexed }
  }
}

/** What to say beside something that ends before the ledger does; undefined where it does not. */
export const indexNote = (shown: number, asked: number): string | undefined =>
  shown === asked ? undefined : `Up to event ${shown.toLocaleString('en')}. What came after it is being indexed now.`
