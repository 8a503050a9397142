/** Whatever is to go out together waits for no longer. */
const MAX_PAUSE_MS = 20

/**
 * Calls `work` soon: at once after a rest, and else after a pause that is as long as the last call took. So a lone event
 * does not wait, and where there is more than there is time for, events go out together.
 */
export class FlushScheduler {
  readonly #flush: () => void
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0

  constructor(work: () => void) {
    this.#flush = work
  }

  schedule(): void {
    if (this.#timer !== undefined) return
    const wait = this.#notBefore - performance.now()
    if (wait < 1) this.#run()
    else this.#timer = setTimeout(() => this.#run(), wait)
  }

  #run(): void {
    this.#timer = undefined
    const began = performance.now()
    this.#notBefore = began + MAX_PAUSE_MS
    this.#flush()
    // Behind what the work left to be done in this turn.
    setImmediate(() => {
      const now = performance.now()
      this.#notBefore = now + Math.min(MAX_PAUSE_MS, now - began)
    })
  }
}
