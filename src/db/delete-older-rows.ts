import type { Pool } from 'pg'

/** Rows of one statement, so that none takes long or locks many rows. */
const MAX_ROWS_PER_DELETE = 5_000

/** Tables whose rows are kept for a while, by their time column. */
interface TimeColumns {
  readonly replies: 'at'
  readonly ledger_batches: 'at'
  readonly live_announcements: 'at'
  readonly told_clients: 'told_at'
}

/** Deletes the rows that are older than an interval of PostgreSQL, in chunks. Several instances may do so at once. */
export async function deleteOlderRows<Table extends keyof TimeColumns>(
  pool: Pool,
  table: Table,
  column: TimeColumns[Table],
  retention: string,
): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where ${column} < now() - $1::interval
         limit ${MAX_ROWS_PER_DELETE} for update skip locked))`,
      [retention],
    )
    if ((rowCount ?? 0) < MAX_ROWS_PER_DELETE) return
  }
}
