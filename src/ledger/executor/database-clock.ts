import type { Micros } from '../rules/time.ts'

/** How long this process's clock is trusted to run at the speed of the database's. */
const MAX_AGE_MS = 10_000

/**
 * The database's clock, one for all instances: the last reading plus this process's monotonic time. Monotonic time
 * stands still while the machine sleeps and the time of day does not, so the age is judged by both.
 */
export class DatabaseClock {
  #reading: { readonly now: Micros; readonly at: number; readonly date: number } | undefined

  /** Takes a reading: the database has just answered with its time. */
  set(now: Micros): void {
    this.#reading = { now, at: performance.now(), date: Date.now() }
  }

  /** Never ahead of the database, as an answer takes its time. Undefined when there is no recent reading. */
  get now(): Micros | undefined {
    const reading = this.#reading
    if (reading === undefined) return undefined
    const ms = performance.now() - reading.at
    return Math.max(ms, Date.now() - reading.date) > MAX_AGE_MS ? undefined : reading.now + Math.floor(ms * 1000)
  }
}
