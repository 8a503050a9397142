import type { Pool } from 'pg'

/** Clients are promised one day. */
const REPLY_RETENTION = '48 hours'
/** A batch's id only matters until its own executor has looked up the batch's outcome. */
const BATCH_RETENTION = '1 hour'
/** Rows deleted by one statement, so that none takes long. */
const MAX_CHUNK_ROWS = 5_000

/** Deletes replies and batch ids older than their retention. Any number of instances may do it at once. */
export async function prune(pool: Pool): Promise<void> {
  await deleteBefore(pool, 'replies', REPLY_RETENTION)
  await deleteBefore(pool, 'ledger_batches', BATCH_RETENTION)
}

async function deleteBefore(pool: Pool, table: 'replies' | 'ledger_batches', age: string): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where at < clock_timestamp() - $1::interval limit ${MAX_CHUNK_ROWS} for update skip locked))`,
      [age],
    )
    if ((rowCount ?? 0) < MAX_CHUNK_ROWS) return
  }
}
