import type { Semaphore } from './semaphore.ts'

/** A user's id, or the name of a member of staff. */
export type CallerKey = number | string

const WINDOW_MS = 60_000

/** The counters of one caller. */
export interface RateLimitEntry extends Semaphore {
  /** Cost accepted since the window began. */
  taken: number
  /** Requests refused since then. */
  refused: number
  /** In milliseconds of `performance.now()`. */
  windowEnds: number
  /** No other expensive request of the caller starts before this; as `windowEnds`. */
  pausedUntil: number
}

/**
 * Callers of the last minute. An entry is evicted only when its window is over and none of its requests runs: evicted
 * earlier, it would give its caller the limit a second time. So there are at most as many as can be served in a minute.
 * Libraries count refused requests, too, or evict callers beyond a fixed number.
 */
export class RateLimitStore {
  /** In the order in which their windows end. Not an LRU cache, which would evict callers within their window. */
  readonly #entries = new Map<CallerKey, RateLimitEntry>()

  /** The caller's entry, in a window that has not ended. */
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
      // Moved to the end: otherwise each call would examine it again.
      else this.#startWindow(key, counted, now)
    }
  }
}
