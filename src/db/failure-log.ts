import type { Log } from './log.ts'

/** What goes on and on is told again so often. */
const AGAIN_MS = 30_000
/** What begins again and again is told so often at most. */
const BEGINNINGS_MS = 5_000

/** Where troubles are told. */
export interface TroubleLog extends Log {
  info(details: object, message: string): void
}

/**
 * Tries that fail over and over, a few times a second perhaps: told when that begins, now and then, and when it is
 * over. Several may try; it is over when none of them fails any more.
 */
export class Troubles {
  readonly #log: TroubleLog
  readonly #what: string
  readonly #over: string
  readonly #now: () => number
  readonly #failing = new Set<unknown>()
  #failures = 0
  #since = 0
  #toldAt = Number.NEGATIVE_INFINITY
  /** Whether it was told that it began and not that it is over. */
  #open = false

  /** `what` fails, and what is to be said when it is `over`. */
  constructor(log: TroubleLog, what: string, over: string, now = () => performance.now()) {
    this.#log = log
    this.#what = what
    this.#over = over
    this.#now = now
  }

  failed(err: unknown, who: unknown): void {
    const now = this.#now()
    if (this.#failures === 0) this.#since = now
    this.#failures += 1
    this.#failing.add(who)
    if (now - this.#toldAt < (this.#open ? AGAIN_MS : BEGINNINGS_MS)) return
    this.#toldAt = now
    this.#open = true
    this.#log.warn(this.#failures > 1 ? { err, ...this.#figures(now) } : { err }, this.#what)
  }

  worked(who: unknown): void {
    if (!this.#failing.delete(who) || this.#failing.size > 0 || !this.#open) return
    this.#log.info(this.#figures(this.#now()), this.#over)
    this.#open = false
    this.#failures = 0
  }

  #figures = (now: number) => ({ failures: this.#failures, seconds: Math.round((now - this.#since) / 100) / 10 })
}
