import type { Line } from './lines.ts'

/** A user's id, or the name of a member of staff. */
export type CallerKey = number | string

const WINDOW_MS = 60_000
/** Callers whose requests are counted at a time; beyond, whoever came first is forgotten. */
const MOST_COUNTED = 100_000

/** What is known of one who asks. */
export interface Counted extends Line {
  /** Requests since the window began, those included that were too many. */
  sent: number
  /** In milliseconds, as `performance.now()` tells them. */
  windowEnds: number
}

/** Those who asked within the last minute. */
export class Callers {
  /** In the order of their windows. */
  readonly #counted = new Map<CallerKey, Counted>()

  /** Counts a request; answers what is known of who sent it. */
  count(key: CallerKey, now: number): Counted {
    const known = this.#counted.get(key)
    if (known !== undefined && now < known.windowEnds) {
      known.sent += 1
      return known
    }
    this.#forget(now)
    const counted = known ?? { sent: 0, windowEnds: 0, inHand: 0, waiting: [] }
    counted.sent = 1
    counted.windowEnds = now + WINDOW_MS
    this.#counted.delete(key)
    this.#counted.set(key, counted)
    return counted
  }

  get size(): number {
    return this.#counted.size
  }

  #forget(now: number): void {
    for (const [key, { windowEnds }] of this.#counted) {
      if (windowEnds > now && this.#counted.size < MOST_COUNTED) return
      this.#counted.delete(key)
    }
  }
}
