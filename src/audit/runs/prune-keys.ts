import type { Pool } from 'pg'
import { REPLY_RETENTION } from '../../ledger/storage/prune.ts'

/** Forgets the keys of verifications and checkpoints when the replies to them are deleted: then they may be used anew. */
export async function pruneKeys(pool: Pool): Promise<void> {
  const isOld = (time: string): string =>
    `idempotency_key is not null and ${time} < clock_timestamp() - interval '${REPLY_RETENTION}'`
  await pool.query(`update verification_runs set idempotency_key = null where ${isOld('started_at')}`)
  await pool.query(`update made_checkpoints set idempotency_key = null where ${isOld('at')}`)
}
