import type { ClientBase, Pool } from 'pg'

/**
 * Makes the partitions that the ledger and replies will need, and drops those of expired replies, by the time that has
 * passed when `readPassedTime` was last called. Any number of instances may do it at once.
 */
export async function makePartitions(db: ClientBase | Pool): Promise<void> {
  await db.query('select make_ledger_partitions(), rotate_reply_days()')
}
