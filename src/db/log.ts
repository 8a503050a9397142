/** For failures in the background: pino's logger or the console. */
export interface Log {
  warn(details: object, message: string): void
}

/** For command lines, which end with the error itself. */
export const silent: Log = { warn: () => {} }

/** Interval between repeats of the same failure. */
const REPEAT_INTERVAL_MS = 30_000
/** Minimum time between two reports that failures began. */
const MIN_REPORT_INTERVAL_MS = 5_000

export interface RecoveryLogger extends Log {
  info(details: object, message: string): void
}

/**
 * Logs repeated failures without a line for each: when they begin, at intervals, and when they end. Several sources may
 * report; the failures end when none of them fails any more.
 */
export class FailureLog {
  readonly #log: RecoveryLogger
  readonly #message: string
  readonly #recoveredMessage: string
  readonly #now: () => number
  readonly #failing = new Set<unknown>()
  #failures = 0
  #failedAt = 0
  #since = 0
  #loggedAt = Number.NEGATIVE_INFINITY
  /** Whether a failure was logged and its end was not. */
  #isReported = false

  constructor(log: RecoveryLogger, message: string, recoveredMessage: string, now = () => performance.now()) {
    this.#log = log
    this.#message = message
    this.#recoveredMessage = recoveredMessage
    this.#now = now
  }

  failed(err: unknown, source: unknown): void {
    const now = this.#now()
    if (this.#failures === 0) this.#since = now
    this.#failures += 1
    this.#failedAt = now
    this.#failing.add(source)
    if (now - this.#loggedAt < (this.#isReported ? REPEAT_INTERVAL_MS : MIN_REPORT_INTERVAL_MS)) return
    this.#loggedAt = now
    this.#isReported = true
    this.#log.warn(this.#failures > 1 ? { err, ...this.#counts(now) } : { err }, this.#message)
  }

  succeeded(source: unknown): void {
    if (!this.#failing.delete(source) || this.#failing.size > 0 || !this.#isReported) return
    this.#log.info(this.#counts(this.#now()), this.#recoveredMessage)
    this.#isReported = false
    this.#failures = 0
  }

  /** Ends failures that were not repeated for so long, for sources that report no success. */
  expire(quietMs: number): void {
    if (this.#now() - this.#failedAt < quietMs) return
    for (const source of this.#failing) this.succeeded(source)
  }

  #counts = (now: number) => ({ failures: this.#failures, seconds: Math.round((now - this.#since) / 100) / 10 })
}
