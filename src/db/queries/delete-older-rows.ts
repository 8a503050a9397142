import type { Pool } from 'pg'
import { type Clock, systemClock } from '../async.ts'

/** Rows of one statement, so that none takes long or locks many rows. */
const MAX_ROWS_PER_DELETE = 5_000

/** Tables whose rows are kept for a while, by their time column. */
const tables = {
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

/** Clients are promised one day. `rotate_reply_days` keeps replies for so long, and `pruneKeys` keys. */
export const REPLY_RETENTION = '48 hours'
/** A batch's id only matters until its own executor has looked up the batch's outcome. */
const BATCH_RETENTION = '1 hour'

/** Deletes batch ids older than their retention. Any number of instances may do it at once. */
export const pruneBatches = (pool: Pool): Promise<void> => deleteOlderRows(pool, 'ledger_batches', BATCH_RETENTION)

/** How much faster than time it may go, to make up for time in which no instance ran. */
const MAX_SPEED = 2

interface Reading {
  readonly at: string
  /** By the clock of this process, in milliseconds. */
  readonly readMs: number
}

/** The last reading by each pool of this process. */
const readings = new WeakMap<Pool, Reading>()

/**
 * Until when time has really passed, as a timestamp of PostgreSQL: what is deleted or dropped by its age is compared with this
 * and not with the database's clock. When that jumps ahead, this follows at twice the speed of time, so that nothing is
 * deleted before half of its retention has really passed; when it goes back, so does this. Time in which no instance ran
 * is made up for in as much time.
 */
export async function readPassedTime(pool: Pool, clock: Pick<Clock, 'now'> = systemClock): Promise<string> {
  const before = readings.get(pool)
  const elapsedMs = before === undefined ? 0 : clock.now() - before.readMs
  // Read before the statement, so that its own time counts once.
  const readMs = clock.now()
  const { rows } = await pool.query<{ at: string }>(
    `update passed_time
     set at = least(clock_timestamp(), greatest(at, $1::timestamptz + $2::float8 * interval '1 millisecond'))
     returning at::text`,
    [before?.at ?? null, MAX_SPEED * elapsedMs],
  )
  const at = rows[0]?.at
  if (at === undefined) throw new Error('the table passed_time has no row')
  readings.set(pool, { at, readMs })
  return at
}
