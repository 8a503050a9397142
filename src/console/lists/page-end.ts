import type { Kysely } from 'kysely'
import { PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { INDEX_CURSOR } from '../../ledger/indexes/index-rows.ts'

/** Where the ledger ends, and where its indexes do. */
export interface LedgerEnds {
  readonly head: number
  readonly indexed: number
}

/** The event that a page ends with. */
export interface PageEnd {
  readonly at: number
  /** Why it ends before the ledger does; undefined where it does not. */
  readonly note: string | undefined
}

/** Events after the end of the indexes that a page searches one by one: fewer than its reads would (`MAX_UNINDEXED_EVENTS`). */
const MAX_PAGE_LAG_EVENTS = 1_000

const ends = new PreparedStatement<LedgerEnds>(
  'ends of the ledger',
  `select h.position as head, coalesce((select position from ledger_cursors where name = $1), 0) as indexed
   from ledger_head h`,
)

export async function readLedgerEnds(db: Kysely<Tables>): Promise<LedgerEnds> {
  const [row] = await ends.execute(db, [INDEX_CURSOR])
  if (row === undefined) throw new Error('the ledger has no head')
  return row
}

/**
 * Where a page ends: at the position of its address, and else with the ledger. A page that finds its rows by the indexes
 * ends with them instead while they are far behind, as under a long burst of gifts: to search what comes after them
 * would take longer with each event.
 */
export function pageEnd({ head, indexed }: LedgerEnds, asked: string | undefined, needsIndex: boolean): PageEnd {
  if (asked !== undefined) return { at: Math.min(head, Number(asked)), note: undefined }
  if (!needsIndex || head - indexed <= MAX_PAGE_LAG_EVENTS) return { at: head, note: undefined }
  return { at: indexed, note: `Up to event ${indexed.toLocaleString('en')}. What came after it is being indexed now.` }
}
