const WINDOW_MS = 1_000

/** Counts what comes, so many at most in a second. */
export class Rate {
  readonly #most: number
  #count = 0
  #windowEnds = 0

  constructor(most: number) {
    this.#most = most
  }

  /** False when it is too much. */
  count(now: number): boolean {
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + WINDOW_MS
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= this.#most
  }
}
