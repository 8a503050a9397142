import { type Kysely, sql } from 'kysely'
import { micros } from './queries/expressions.ts'
import type { Tables } from './tables.ts'

/** The position of the ledger's last event; 0 when there is none. */
export async function headOf(db: Kysely<Tables>): Promise<number> {
  const { position } = await db.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
  return position
}

/** How many seconds the ledger's time is ahead of the database's clock; 0 while it is not. */
export async function clockAhead(db: Kysely<Tables>): Promise<number> {
  const { seconds } = await db
    .selectFrom('ledger_head')
    .select(sql<number>`greatest(0, extract(epoch from at - clock_timestamp()))::float8`.as('seconds'))
    .executeTakeFirstOrThrow()
  return seconds
}

/** Less is the difference between the clocks of two hosts, such as after a failover. */
export const MIN_AHEAD_SECONDS = 1

/** The ledger's incarnation and the event that it began with; undefined while there is no event. */
export const readIncarnation = (db: Kysely<Tables>) =>
  db
    .selectFrom('ledger_incarnation')
    .select(['incarnation', 'position', micros('began_at').as('began_at')])
    .executeTakeFirst()
