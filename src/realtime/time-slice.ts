import { type Clock, systemClock } from '../db/async.ts'

/**
 * Gives work some milliseconds of each turn of the event loop, in the order in which it asks, so that requests get their
 * share however much there is to do.
 */
export class TimeSlice {
  readonly #ms: number
  readonly #clock: Pick<Clock, 'now'>
  readonly #waiting: (() => void)[] = []
  /** The end of the last slice. */
  #deadline = 0
  /** The next slice; undefined when there was none in this turn. */
  #next: NodeJS.Immediate | undefined

  constructor(ms: number, clock: Pick<Clock, 'now'> = systemClock) {
    this.#ms = ms
    this.#clock = clock
  }

  /** Until when the work whose turn it is may last. */
  get deadline(): number {
    return this.#deadline
  }

  /** Calls `work` at once when nothing waits and this turn's slice has time left, otherwise in one of the next turns. */
  run(work: () => void): void {
    if (this.#next === undefined) this.#begin()
    else if (this.#waiting.length > 0 || this.#clock.now() >= this.#deadline) return void this.#waiting.push(work)
    work()
  }

  /** Resolves in one of the next turns. What the caller does until it waits again counts as its work. */
  turn(): Promise<void> {
    // Never at once: many that ask together would all work in one turn.
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#next === undefined) this.#begin()
    })
  }

  #begin(): void {
    this.#deadline = this.#clock.now() + this.#ms
    this.#next = setImmediate(() => void this.#runWaiting())
  }

  async #runWaiting(): Promise<void> {
    this.#next = undefined
    if (this.#waiting.length === 0) return
    this.#begin()
    do {
      this.#waiting.shift()?.()
      // A caller of `turn` works before the time is taken.
      await Promise.resolve()
    } while (this.#waiting.length > 0 && this.#clock.now() < this.#deadline)
  }
}
