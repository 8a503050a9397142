import type { Kysely } from 'kysely'
import { micros } from './queries/micros.ts'
import type { Tables } from './tables.ts'

/** The ledger's incarnation and the event that it began with; undefined while there is no event. */
export const readIncarnation = (db: Kysely<Tables>) =>
  db
    .selectFrom('ledger_incarnation')
    .select(['incarnation', 'position', micros('began_at').as('began_at')])
    .executeTakeFirst()
