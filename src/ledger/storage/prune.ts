import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'

/** Clients are promised one day. */
export const REPLY_RETENTION = '48 hours'
/** A batch's id only matters until its own executor has looked up the batch's outcome. */
const BATCH_RETENTION = '1 hour'

/** Deletes replies and batch ids older than their retention. Any number of instances may do it at once. */
export async function prune(pool: Pool): Promise<void> {
  await deleteOlderRows(pool, 'replies', REPLY_RETENTION)
  await deleteOlderRows(pool, 'ledger_batches', BATCH_RETENTION)
}
