import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Beside a service that is at work: so much rest for each unit of work. At 3, a service at half its capacity had a p99
 * that was 1.47 times its own, and 1.25 is what it may be. With an eighth of the time instead of a quarter half as much
 * is taken from it.
 */
const REST = 7
/** No rest is longer. Work is measured by the clock, and may have been waiting for the processor or the database. */
const MOST_REST_MS = 1_000
/** So many milliseconds of work before a rest. */
const SLICE_MS = 2
/** How often it is looked whether the service is at work. */
const LOOK_MS = 200
/** At first sooner: as long as nothing is known, nothing is read. */
const FIRST_LOOK_MS = 50

/** Milliseconds that pass, and how to let some pass. */
export interface Time {
  now(): number
  sleep(ms: number): Promise<unknown>
}

const real: Time = { now: () => performance.now(), sleep }

/**
 * How a long reading gives way to a service that works on the same database: as long as the ledger grows, it rests most
 * of the time; else it never does.
 */
export class Pace {
  readonly #head: () => Promise<number>
  #position: number
  #busy: boolean
  readonly #time: Time
  #looked: number
  #rested: number

  private constructor(head: () => Promise<number>, position: number, busy: boolean, time: Time) {
    this.#head = head
    this.#position = position
    this.#busy = busy
    this.#time = time
    this.#looked = time.now()
    this.#rested = time.now()
  }

  /** `head`: where the ledger ends by now, which is looked at twice. */
  static async at(head: () => Promise<number>, time = real): Promise<Pace> {
    const before = await head()
    await time.sleep(FIRST_LOOK_MS)
    const position = await head()
    return new Pace(head, position, position !== before, time)
  }

  /** Whether the service is at work. */
  get busy(): boolean {
    return this.#busy
  }

  /** To be called between two readings. */
  async look(): Promise<void> {
    if (this.#time.now() - this.#looked < LOOK_MS) return
    const position = await this.#head()
    this.#busy = position !== this.#position
    this.#position = position
    this.#looked = this.#time.now()
  }

  /** What was worked so far needs no rest. */
  waive(): void {
    this.#rested = this.#time.now()
  }

  /**
   * To be called after every piece of work that takes a moment; `aside` are the milliseconds that others worked for it
   * at the same time. Answers whether all work so far is rested from.
   */
  async rest(aside = 0): Promise<boolean> {
    const worked = this.#time.now() - this.#rested + aside
    if (this.#busy && worked < SLICE_MS) return false
    if (this.#busy) await this.#time.sleep(Math.min(worked * REST, MOST_REST_MS))
    this.#rested = this.#time.now()
    return true
  }
}
