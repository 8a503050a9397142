import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { type CheckpointHead, HEAD_IS_LAST, HEAD_IS_NOT_LAST } from './checkpoint.ts'

/** The end of the ledger now, by the database's clock. Throws when the head does not match the last event. */
export async function readCheckpointHead(db: Kysely<Tables>): Promise<CheckpointHead> {
  const head = await db
    .selectFrom('ledger_head as h')
    .select(['position', 'hash'])
    .select(micros('clock_timestamp()').as('now'))
    .where(sql<boolean>`${sql.raw(HEAD_IS_LAST)}`)
    .executeTakeFirst()
  if (head === undefined) throw new Error(HEAD_IS_NOT_LAST)
  const { position, hash, now } = head
  return { position, hash, at: isoMicros(now) }
}
