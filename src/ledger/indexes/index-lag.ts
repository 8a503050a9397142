import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { indexedSql } from './index-reads.ts'

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
