/** A user's id, or the name of a member of staff. */
export type CallerKey = number | string

const WINDOW_MS = 60_000
/** Callers whose requests are counted at a time; beyond, whoever came first is forgotten. */
const MOST_COUNTED = 100_000
/** Requests of one caller that are worked on at a time. Others of theirs wait for them, and nobody waits for others. */
const MOST_IN_HAND = 6
/** Requests of one caller that may wait: more than the usual limit lets through in a minute. */
const MOST_WAITING = 2_000

/** What is known of one who asks. */
export interface Counted {
  /** Requests since the window began, those included that were too many. */
  sent: number
  /** In milliseconds, as `performance.now()` tells them. */
  windowEnds: number
  inHand: number
  readonly waiting: (() => boolean)[]
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

/**
 * Begins a request, at once or when enough of the caller's others are over. `begin` answers whether it did: it does not
 * where nobody waits for the answer any more. False when too many wait.
 */
export function lineUp(counted: Counted, begin: () => boolean): boolean {
  if (counted.inHand < MOST_IN_HAND) {
    counted.inHand += 1
    if (!begin()) leave(counted)
    return true
  }
  if (counted.waiting.length >= MOST_WAITING) return false
  counted.waiting.push(begin)
  return true
}

/** A request that was begun is over: the next one takes its place. */
export function leave(counted: Counted): void {
  for (let begin = counted.waiting.shift(); begin !== undefined; begin = counted.waiting.shift()) {
    if (begin()) return
  }
  counted.inHand -= 1
}
