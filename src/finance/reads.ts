import { type Kysely, sql } from 'kysely'
import type { Ending } from '../audit/checkpoint.ts'
import type { Tables } from '../db/tables.ts'
import { isoMicros, type Micros } from '../ledger/time.ts'

/** Where the ledger ends, and the time of the database. */
export async function endOfLedger(db: Kysely<Tables>): Promise<Ending> {
  const { position, hash, now } = await db
    .selectFrom('ledger_head')
    .select(['position', 'hash'])
    .select(sql<Micros>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`.as('now'))
    .executeTakeFirstOrThrow()
  return { position, hash, at: isoMicros(now) }
}
