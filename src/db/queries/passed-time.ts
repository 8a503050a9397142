import type { Pool } from 'pg'
import { type Clock, systemClock } from '../../config/clock.ts'

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
