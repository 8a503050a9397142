/** Whatever is to go out together waits for no longer. */
const LONGEST_MS = 20

/**
 * Calls `work` soon: at once after a rest, and else after a pause that is as long as the last call took. So a lone event
 * does not wait, and where there is more than there is time for, events go out together.
 */
export class Pace {
  readonly #work: () => void
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0

  constructor(work: () => void) {
    this.#work = work
  }

  soon(): void {
    if (this.#timer !== undefined) return
    const wait = this.#notBefore - performance.now()
    if (wait < 1) this.#do()
    else this.#timer = setTimeout(() => this.#do(), wait)
  }

  #do(): void {
    this.#timer = undefined
    const began = performance.now()
    this.#notBefore = began + LONGEST_MS
    this.#work()
    // Behind what the work left to be done in this turn.
    setImmediate(() => {
      const now = performance.now()
      this.#notBefore = now + Math.min(LONGEST_MS, now - began)
    })
  }
}
