import type { ClientBase, Pool } from 'pg'

/** Makes the ledger's next partition where it is missing. Any number of instances may do it at once. */
export async function makeLedgerPartitions(db: ClientBase | Pool): Promise<void> {
  await db.query('select make_ledger_partitions()')
}
