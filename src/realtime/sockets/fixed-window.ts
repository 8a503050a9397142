const WINDOW_MS = 1_000

/** A rate limit by fixed windows of a second. */
export class FixedWindow {
  readonly #limit: number
  #count = 0
  #windowEndsAt = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one; false beyond the limit. `now` by `performance.now()`. */
  take(now: number): boolean {
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= this.#limit
  }
}
