import { setTimeout } from 'node:timers/promises'

/** Rest for each unit of work while commands wait: a tenth of the time is left for work. */
const REST_RATIO = 9
/** How often it is looked whether commands wait, and for how long they may not have waited before work goes on. */
const SAMPLE_INTERVAL_MS = 5
const QUIET_MS = 50

/** Time and rest, in milliseconds; tests use their own. */
export interface Pace {
  now(): number
  sleep(ms: number): Promise<unknown>
}

const systemPace: Pace = { now: () => performance.now(), sleep: setTimeout }

/** Makes work in the background rest while commands wait, but never longer than nine tenths of the time. */
export class GiveWay {
  readonly #commandsWait: () => boolean
  readonly #pace: Pace
  #waitedAt = Number.NEGATIVE_INFINITY

  constructor(commandsWait: () => boolean, pace = systemPace) {
    this.#commandsWait = commandsWait
    this.#pace = pace
  }

  /** Does a piece of work, then rests for it, if commands wait or waited a moment ago. `isStopped` ends the rest. */
  async after<Result>(work: () => Promise<Result>, isStopped: () => boolean): Promise<Result> {
    const began = this.#pace.now()
    // Between two batches no command waits: a single look at the end would often miss them.
    const sampling = setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS)
    try {
      return await work()
    } finally {
      clearInterval(sampling)
      const ended = this.#pace.now()
      const until = ended + (ended - began) * REST_RATIO
      while (!isStopped() && this.#isBusy() && this.#pace.now() < until) await this.#pace.sleep(SAMPLE_INTERVAL_MS)
    }
  }

  #sample(): void {
    if (this.#commandsWait()) this.#waitedAt = this.#pace.now()
  }

  #isBusy(): boolean {
    this.#sample()
    return this.#pace.now() - this.#waitedAt < QUIET_MS
  }
}
