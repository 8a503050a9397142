import type { Pool } from 'pg'
import { REPLY_RETENTION, readPassedTime } from '../../db/queries/delete-older-rows.ts'

/** Forgets the keys of jobs and checkpoints when the replies to them are deleted, and jobs that pages started. */
export async function pruneKeys(pool: Pool): Promise<void> {
  const passed = await readPassedTime(pool)
  const isOld = (time: string): string =>
    `idempotency_key is not null and ${time} < $1::timestamptz - interval '${REPLY_RETENTION}'`
  await pool.query(`update jobs set idempotency_key = null where ${isOld('started_at')}`, [passed])
  // What pages start while somebody looks at them.
  await pool.query(
    `delete from jobs where kind in ('streamed-verification', 'trial-balance', 'draws')
     and started_at < $1::timestamptz - interval '7 days'`,
    [passed],
  )
  await pool.query(`update made_checkpoints set idempotency_key = null where ${isOld('at')}`, [passed])
}
