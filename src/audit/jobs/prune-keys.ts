import type { Pool } from 'pg'
import { readPassedTime } from '../../db/queries/passed-time.ts'
import { REPLY_RETENTION } from '../../ledger/storage/prune.ts'

/** Forgets the keys of jobs and checkpoints when the replies to them are deleted: then they may be used again. */
export async function pruneKeys(pool: Pool): Promise<void> {
  const passed = await readPassedTime(pool)
  const isOld = (time: string): string =>
    `idempotency_key is not null and ${time} < $1::timestamptz - interval '${REPLY_RETENTION}'`
  await pool.query(`update jobs set idempotency_key = null where ${isOld('started_at')}`, [passed])
  await pool.query(`update made_checkpoints set idempotency_key = null where ${isOld('at')}`, [passed])
}
