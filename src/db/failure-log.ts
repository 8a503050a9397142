import type { Log } from './log.ts'

/** What goes on and on is told again so often. */
const REPEAT_INTERVAL_MS = 30_000
/** What begins again and again is told so often at most. */
const MIN_REPORT_INTERVAL_MS = 5_000

/** Where troubles are told. */
export interface RecoveryLogger extends Log {
  info(details: object, message: string): void
}

/**
 * Tries that fail over and over, a few times a second perhaps: told when that begins, now and then, and when it is
 * over. Several may try; it is over when none of them fails any more.
 */
export class FailureLog {
  readonly #log: RecoveryLogger
  readonly #message: string
  readonly #recoveredMessage: string
  readonly #now: () => number
  readonly #failing = new Set<unknown>()
  #failures = 0
  #since = 0
  #loggedAt = Number.NEGATIVE_INFINITY
  /** Whether it was told that it began and not that it is over. */
  #isReported = false

  /** `what` fails, and what is to be said when it is `over`. */
  constructor(log: RecoveryLogger, what: string, over: string, now = () => performance.now()) {
    this.#log = log
    this.#message = what
    this.#recoveredMessage = over
    this.#now = now
  }

  failed(err: unknown, who: unknown): void {
    const now = this.#now()
    if (this.#failures === 0) this.#since = now
    this.#failures += 1
    this.#failing.add(who)
    if (now - this.#loggedAt < (this.#isReported ? REPEAT_INTERVAL_MS : MIN_REPORT_INTERVAL_MS)) return
    this.#loggedAt = now
    this.#isReported = true
    this.#log.warn(this.#failures > 1 ? { err, ...this.#counts(now) } : { err }, this.#message)
  }

  succeeded(who: unknown): void {
    if (!this.#failing.delete(who) || this.#failing.size > 0 || !this.#isReported) return
    this.#log.info(this.#counts(this.#now()), this.#recoveredMessage)
    this.#isReported = false
    this.#failures = 0
  }

  #counts = (now: number) => ({ failures: this.#failures, seconds: Math.round((now - this.#since) / 100) / 10 })
}
