import { type Clock, systemClock } from '../config/clock.ts'

/**
 * Rest for each unit of work while a service is busy. At 3, a service at half its capacity had 1.47 times its usual p99
 * (`npm run bench:audit -- --only service`), where 1.25 is the limit.
 */
const REST_RATIO = 7
/** Bounds a rest, as the work before it may have been mostly waiting for the processor or the database. */
const MAX_REST_MS = 1_000
const MIN_WORK_MS = 2
/** How often the head is read to see whether the service is busy. */
const CHECK_INTERVAL_MS = 200
/** Shorter at the start, as the scan waits for it. */
const FIRST_CHECK_MS = 50

/** Makes a long scan yield to a service on the same database: while the ledger grows, it rests most of the time. */
export class AdaptiveThrottle {
  readonly #readHead: () => Promise<number>
  #position: number
  #isBusy: boolean
  readonly #clock: Clock
  #checkedAt: number
  #restedAt: number

  private constructor(readHead: () => Promise<number>, position: number, isBusy: boolean, clock: Clock) {
    this.#readHead = readHead
    this.#position = position
    this.#isBusy = isBusy
    this.#clock = clock
    this.#checkedAt = clock.now()
    this.#restedAt = clock.now()
  }

  /** Reads the head twice to see whether the ledger grows. */
  static async start(readHead: () => Promise<number>, clock = systemClock): Promise<AdaptiveThrottle> {
    const before = await readHead()
    await clock.sleep(FIRST_CHECK_MS)
    const position = await readHead()
    return new AdaptiveThrottle(readHead, position, position !== before, clock)
  }

  /** Whether the ledger grew between the last two checks. */
  get busy(): boolean {
    return this.#isBusy
  }

  /** Call it between two pages; it reads the head only every 200 ms. */
  async checkLoad(): Promise<void> {
    if (this.#clock.now() - this.#checkedAt < CHECK_INTERVAL_MS) return
    const position = await this.#readHead()
    this.#isBusy = position !== this.#position
    this.#position = position
    this.#checkedAt = this.#clock.now()
  }

  /** Forgets the work since the last rest. */
  skipRest(): void {
    this.#restedAt = this.#clock.now()
  }

  /**
   * Rests for the work since the last rest, once that is 2 ms; `workerMs` is what a worker did meanwhile. Answers false
   * when it was too early for a rest.
   */
  async rest(workerMs = 0): Promise<boolean> {
    const worked = this.#clock.now() - this.#restedAt + workerMs
    if (this.#isBusy && worked < MIN_WORK_MS) return false
    if (this.#isBusy) await this.#clock.sleep(Math.min(worked * REST_RATIO, MAX_REST_MS))
    this.#restedAt = this.#clock.now()
    return true
  }
}
