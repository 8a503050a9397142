const WINDOW_MS = 1_000

/** Counts what comes, so many at most in a second. */
export class FixedWindow {
  readonly #limit: number
  #count = 0
  #windowEndsAt = 0

  constructor(most: number) {
    this.#limit = most
  }

  /** False when it is too much. */
  take(now: number): boolean {
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= this.#limit
  }
}
