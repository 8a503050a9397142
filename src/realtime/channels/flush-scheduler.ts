const MAX_PAUSE_MS = 20

/**
 * Calls `flush` soon: at once when the last call is long past, otherwise after a pause as long as the last call took. A
 * lone event does not wait; under load, events go out together.
 */
export class FlushScheduler {
  readonly #flush: () => void
  #timer: NodeJS.Timeout | undefined
  #notBefore = 0

  constructor(flush: () => void) {
    this.#flush = flush
  }

  schedule(): void {
    if (this.#timer !== undefined) return
    const wait = this.#notBefore - performance.now()
    if (wait < 1) this.#run()
    else this.#timer = setTimeout(() => this.#run(), wait)
  }

  #run(): void {
    this.#timer = undefined
    const startedAt = performance.now()
    this.#flush()
    const now = performance.now()
    this.#notBefore = now + Math.min(MAX_PAUSE_MS, now - startedAt)
  }
}
