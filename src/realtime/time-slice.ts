/**
 * Gives work some milliseconds of each turn of the event loop, in the order in which it asks, so that requests get their
 * share however much there is to do.
 */
export class TimeSlice {
  readonly #ms: number
  readonly #waiting: (() => void)[] = []
  /** The end of the last slice, by `performance.now()`. */
  #deadline = 0
  /** Set in a turn that has its slice already. */
  #nextTurn: NodeJS.Immediate | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Until when the caller whose turn it is may work, by `performance.now()`. */
  get deadline(): number {
    return this.#deadline
  }

  /** Resolves when `run` would call. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.run(resolve))
  }

  /** Calls `work` at once when nobody waits and this turn's slice has time left, otherwise in one of the next turns. */
  run(work: () => void): void {
    const isTaken = this.#waiting.length > 0 || performance.now() >= this.#deadline
    if (this.#nextTurn === undefined) this.#begin()
    else if (isTaken) return void this.#waiting.push(work)
    work()
  }

  #begin(): void {
    this.#deadline = performance.now() + this.#ms
    this.#nextTurn = setImmediate(() => void this.#runWaiting())
  }

  async #runWaiting(): Promise<void> {
    this.#nextTurn = undefined
    if (this.#waiting.length === 0) return
    this.#begin()
    do {
      this.#waiting.shift()?.()
      // Where it is a promise that was resolved, the work is done before the time is taken.
      await Promise.resolve()
    } while (this.#waiting.length > 0 && performance.now() < this.#deadline)
  }
}
