import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { indexedSql } from './index-reads.ts'

/** Events that a read searches for what is not indexed yet, a few milliseconds of work. */
export const MAX_UNINDEXED_EVENTS = 5_000

/** What was asked for is too far beyond the indexes to be searched. */
export class IndexLagExceeded extends Error {
  override readonly name = 'IndexLagExceeded'
}

/** How far the indexes are behind the ledger. */
export interface IndexLag {
  readonly events: number
  /** Since the first event that is not indexed, by the database's clock; 0 when all are. */
  readonly seconds: number
}

export async function readIndexLag(db: Kysely<Tables>): Promise<IndexLag> {
  const { rows } = await sql<IndexLag>`
    select h.position - c.indexed as events,
           coalesce(extract(epoch from clock_timestamp() - e.at), 0)::float8 as seconds
    from ledger_head h
    cross join (select ${indexedSql} as indexed) c
    left join ledger_events e on e.position = c.indexed + 1`.execute(db)
  const [lag] = rows
  if (lag === undefined) throw new Error('the ledger has no head')
  return { events: Math.max(0, lag.events), seconds: Math.max(0, lag.seconds) }
}
