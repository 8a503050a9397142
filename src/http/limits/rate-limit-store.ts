import type { Line } from './semaphore.ts'

/** A user's id, or the name of a member of staff. */
export type CallerKey = number | string

const WINDOW_MS = 60_000

/** What is known of one who asks. */
export interface Counted extends Line {
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
export class Callers {
  /** In the order of their windows. */
  readonly #counted = new Map<CallerKey, Counted>()

  /** What the caller has taken in the window that runs; begins one where none does. */
  of(key: CallerKey, now: number): Counted {
    const known = this.#counted.get(key)
    if (known !== undefined && now < known.windowEnds) return known
    this.#dropIdle(now)
    const counted = known ?? { taken: 0, refused: 0, windowEnds: 0, pausedUntil: 0, inHand: 0, waiting: [] }
    this.#begin(key, counted, now)
    return counted
  }

  get size(): number {
    return this.#counted.size
  }

  #begin(key: CallerKey, counted: Counted, now: number): void {
    counted.taken = 0
    counted.refused = 0
    counted.windowEnds = now + WINDOW_MS
    this.#counted.delete(key)
    this.#counted.set(key, counted)
  }

  #dropIdle(now: number): void {
    for (const [key, counted] of this.#counted) {
      if (counted.windowEnds > now) return
      if (counted.inHand === 0) this.#counted.delete(key)
      // Moved to the end, or each call would pass over it again.
      else this.#begin(key, counted, now)
    }
  }
}
