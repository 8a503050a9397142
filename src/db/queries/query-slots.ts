/** Limits how many queries of several lookups run at a time. */
export class QuerySlots {
  #free: number
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>()
  #isScheduled = false

  constructor(count: number) {
    this.#free = count
  }

  /** Takes a slot if one is free. */
  take(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Calls `start` once, in a later turn of the event loop, when a slot is free. */
  whenFree(start: () => void): void {
    this.#waiting.add(start)
  }

  release(): void {
    this.#free += 1
    if (this.#isScheduled || this.#waiting.size === 0) return
    this.#isScheduled = true
    // What comes in this turn shares the queries.
    setImmediate(() => {
      this.#isScheduled = false
      for (const start of this.#waiting) {
        if (this.#free === 0) return
        this.#waiting.delete(start)
        start()
      }
    })
  }
}
