import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Beside a service that is at work: so much rest for each unit of work. At 3, a service at half its capacity had a p99
 * that was 1.47 times its own, and 1.25 is what it may be. With an eighth of the time instead of a quarter half as much
 * is taken from it.
 */
const REST_RATIO = 7
/** No rest is longer. Work is measured by the clock, and may have been waiting for the processor or the database. */
const MAX_REST_MS = 1_000
/** So many milliseconds of work before a rest. */
const MIN_WORK_MS = 2
/** How often it is looked whether the service is at work. */
const CHECK_INTERVAL_MS = 200
/** At first sooner: as long as nothing is known, nothing is read. */
const FIRST_CHECK_MS = 50

/** Milliseconds that pass, and how to let some pass. */
export interface Clock {
  now(): number
  sleep(ms: number): Promise<unknown>
}

const systemClock: Clock = { now: () => performance.now(), sleep }

/**
 * How a long reading gives way to a service that works on the same database: as long as the ledger grows, it rests most
 * of the time; else it never does.
 */
export class AdaptiveThrottle {
  readonly #readHead: () => Promise<number>
  #position: number
  #isBusy: boolean
  readonly #clock: Clock
  #checkedAt: number
  #restedAt: number

  private constructor(head: () => Promise<number>, position: number, isBusy: boolean, time: Clock) {
    this.#readHead = head
    this.#position = position
    this.#isBusy = isBusy
    this.#clock = time
    this.#checkedAt = time.now()
    this.#restedAt = time.now()
  }

  /** `head`: where the ledger ends by now, which is looked at twice. */
  static async start(head: () => Promise<number>, time = systemClock): Promise<AdaptiveThrottle> {
    const before = await head()
    await time.sleep(FIRST_CHECK_MS)
    const position = await head()
    return new AdaptiveThrottle(head, position, position !== before, time)
  }

  /** Whether the service is at work. */
  get busy(): boolean {
    return this.#isBusy
  }

  /** To be called between two readings. */
  async checkLoad(): Promise<void> {
    if (this.#clock.now() - this.#checkedAt < CHECK_INTERVAL_MS) return
    const position = await this.#readHead()
    this.#isBusy = position !== this.#position
    this.#position = position
    this.#checkedAt = this.#clock.now()
  }

  /** What was worked so far needs no rest. */
  skipRest(): void {
    this.#restedAt = this.#clock.now()
  }

  /**
   * To be called after every piece of work that takes a moment; `aside` are the milliseconds that others worked for it
   * at the same time. Answers whether all work so far is rested from.
   */
  async rest(workerMs = 0): Promise<boolean> {
    const worked = this.#clock.now() - this.#restedAt + workerMs
    if (this.#isBusy && worked < MIN_WORK_MS) return false
    if (this.#isBusy) await this.#clock.sleep(Math.min(worked * REST_RATIO, MAX_REST_MS))
    this.#restedAt = this.#clock.now()
    return true
  }
}
