import type { Pool } from 'pg'
import type { Clock } from '../../config/clock.ts'
import { readPassedTime } from './passed-time.ts'

/** Rows of one statement, so that none takes long or locks many rows. */
const MAX_ROWS_PER_DELETE = 5_000

/** Tables whose rows are kept for a while, by their time column. */
const tables = {
  replies: { key: ['actor', 'idempotency_key'], time: 'at' },
  ledger_batches: { key: ['id'], time: 'at' },
  live_announcements: { key: ['channel', 'position'], time: 'at' },
  told_clients: { key: ['token_key'], time: 'told_at' },
  ended_console_sessions: { key: ['id'], time: 'ended_at' },
  instances: { key: ['id'], time: 'seen_at' },
} as const

/**
 * Deletes the rows that are older than an interval of PostgreSQL by the time that has really passed, in chunks. At least half
 * of the interval is kept whatever the clocks do. Several instances may do so at once.
 */
export async function deleteOlderRows(
  pool: Pool,
  table: keyof typeof tables,
  retention: string,
  clock?: Pick<Clock, 'now'>,
): Promise<void> {
  const { key, time } = tables[table]
  const { rows } = await pool.query<{ before: string }>('select ($1::timestamptz - $2::interval)::text as before', [
    await readPassedTime(pool, clock),
    retention,
  ])
  // By key and with a fixed time: Citus deletes no rows by ctid where a function such as now() is in the statement.
  const text = `delete from ${table} as t
    using (select ${key.join(', ')} from ${table} where ${time} < $1::timestamptz
           limit ${MAX_ROWS_PER_DELETE} for update skip locked) as older
    where ${key.map((column) => `t.${column} = older.${column}`).join(' and ')}`
  for (;;) {
    const { rowCount } = await pool.query(text, [rows[0]?.before])
    if ((rowCount ?? 0) < MAX_ROWS_PER_DELETE) return
  }
}
