import type { Micros } from '../rules/time.ts'

/** So long the time of this process may be trusted to go as that of the database does. */
const MAX_AGE_MS = 10_000

/**
 * The database's clock, one for all instances, as last read; it goes on by this process's monotonic time. That stands
 * still while the machine sleeps, which the time of day does not.
 */
export class DatabaseClock {
  #read: { readonly now: Micros; readonly at: number; readonly date: number } | undefined

  /** The database just answered that it is `now` there. */
  set(now: Micros): void {
    this.#read = { now, at: performance.now(), date: Date.now() }
  }

  /** Never ahead of the database: an answer takes its time. Undefined when it was not read lately. */
  get now(): Micros | undefined {
    if (this.#read === undefined) return undefined
    const ms = performance.now() - this.#read.at
    return Math.max(ms, Date.now() - this.#read.date) > MAX_AGE_MS ? undefined : this.#read.now + Math.floor(ms * 1000)
  }
}
