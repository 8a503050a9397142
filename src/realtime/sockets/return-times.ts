/** Sockets that may come back to an instance in a second: with less than this, they take no more than a part of it. */
const RETURNS_PER_SECOND_AND_CORE = 300
const MIN_WAIT_MS = 1_000
/** As many sockets as an instance takes; a flood of upgrades must not send all others away for hours. */
const MAX_RETURNING = 50_000

/** When clients whose sockets were refused or closed may come back, so that not all of them come at once. */
export class ReturnTimes {
  /** Sockets that come back in a second. */
  readonly perSecond: number
  /** When the next one comes back, by `performance.now()`. */
  #next = 0

  constructor(cores: number) {
    this.perSecond = RETURNS_PER_SECOND_AND_CORE * cores
  }

  /**
   * The wait of the next of many clients that come one by one, in milliseconds: each gets a time of its own, a random one
   * while as many as may return are on their way.
   */
  next(now: number): number {
    const next = Math.max(this.#next, now + MIN_WAIT_MS) + 1_000 / this.perSecond
    const maxWaitMs = MIN_WAIT_MS + (MAX_RETURNING / this.perSecond) * 1_000
    if (next - now > maxWaitMs) return Math.ceil(MIN_WAIT_MS + Math.random() * (maxWaitMs - MIN_WAIT_MS))
    this.#next = next
    return Math.ceil(next - now)
  }

  /** A random wait for one of `count` clients that are all closed now, in milliseconds. */
  oneOf(count: number): number {
    return Math.floor(Math.random() * Math.max(MIN_WAIT_MS, (count / this.perSecond) * 1_000))
  }
}
