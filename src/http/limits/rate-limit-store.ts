import type { Semaphore } from './semaphore.ts'

/** A user's id, or the name of a member of staff. */
export type CallerKey = number | string

const WINDOW_MS = 60_000

/** What is known of one who asks. */
export interface RateLimitEntry extends Semaphore {
  /** Cost of what was let in since the window began. */
  taken: number
  /** Requests that were refused since then. */
  refused: number
  /** In milliseconds, as `performance.now()` tells them. */
  windowEnds: number
  /** Until then no other dear request of the caller begins; as `windowEnds`. */
  pausedUntil: number
}

/**
 * Those who asked within the last minute. An entry is dropped only when its window is over and nothing of it is in hand:
 * dropped earlier, it would give its caller a second allowance. So there are as many as can be answered in a minute.
 */
export class RateLimitStore {
  /** In the order of their windows. */
  readonly #entries = new Map<CallerKey, RateLimitEntry>()

  /** What the caller has taken in the window that runs; begins one where none does. */
  entryFor(key: CallerKey, now: number): RateLimitEntry {
    const known = this.#entries.get(key)
    if (known !== undefined && now < known.windowEnds) return known
    this.#evictIdle(now)
    const entry = known ?? { taken: 0, refused: 0, windowEnds: 0, pausedUntil: 0, running: 0, waiting: [] }
    this.#startWindow(key, entry, now)
    return entry
  }

  get size(): number {
    return this.#entries.size
  }

  #startWindow(key: CallerKey, counted: RateLimitEntry, now: number): void {
    counted.taken = 0
    counted.refused = 0
    counted.windowEnds = now + WINDOW_MS
    this.#entries.delete(key)
    this.#entries.set(key, counted)
  }

  #evictIdle(now: number): void {
    for (const [key, counted] of this.#entries) {
      if (counted.windowEnds > now) return
      if (counted.running === 0) this.#entries.delete(key)
      // Moved to the end, or each call would pass over it again.
      else this.#startWindow(key, counted, now)
    }
  }
}
