import type { Pool } from 'pg'

/** Remembered replies are kept for two days; the promise to clients is one. */
const REPLIES_FOR = '48 hours'
/** A batch's id only matters until its own executor has asked for it. */
const BATCHES_FOR = '1 hour'
/** Rows in one statement, so that none takes long. */
const CHUNK = 5_000

/** Deletes replies and batch ids that are past their time. Any number of instances may do it at once. */
export async function prune(pool: Pool): Promise<void> {
  await deleteBefore(pool, 'replies', REPLIES_FOR)
  await deleteBefore(pool, 'ledger_batches', BATCHES_FOR)
}

async function deleteBefore(pool: Pool, table: 'replies' | 'ledger_batches', age: string): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where at < clock_timestamp() - $1::interval limit ${CHUNK} for update skip locked))`,
      [age],
    )
    if ((rowCount ?? 0) < CHUNK) return
  }
}
