import { type Clock, systemClock } from './async.ts'

/** How long a piece of work should take: about as long as the commands of one batch. */
const PIECE_MS = 20
/** Rest as long as the work for each so many events that commands add in a second, and at most so many times as long. */
const EVENTS_PER_RATIO = 600
const MAX_REST_RATIO = 7
/** Bounds a rest, as the work before it may have been mostly waiting. */
const MAX_REST_MS = 250
/** Shorter work waits for more before it rests: a timer is no more exact. */
const MIN_WORK_MS = 5
/** Over shorter times it is not measured how fast the ledger grows. */
const MIN_WINDOW_MS = 50

/**
 * Milliseconds of rest after so many of work, while commands add `perSecond` events. Few commands leave the database idle
 * for most of the time; the more there are, the longer they wait for each other user of it. `urgency` is from 0, where the
 * work has time, to 1, where it does not rest as it would never reach its end.
 */
export function restMs(workMs: number, perSecond: number, urgency: number): number {
  const ratio = Math.min(perSecond / EVENTS_PER_RATIO, MAX_REST_RATIO)
  return Math.min(workMs * ratio * (1 - urgency), MAX_REST_MS)
}

/** Events of a piece. The least should be many enough to cost more than what any piece costs. */
export interface PieceLimits {
  readonly min: number
  readonly max: number
}

/** Events of the next piece after one of `events` that took `ms`; `planned` were those that it could have had. */
export function nextPieceEvents(planned: number, events: number, ms: number, { min, max }: PieceLimits): number {
  // The fixed costs of a piece that was cut short say little about a whole one.
  if (events < planned && ms < PIECE_MS) return planned
  return Math.max(min, Math.ceil(Math.min((events * PIECE_MS) / ms, 2 * planned, max)))
}

/**
 * How work in the background leaves the database to commands: in pieces that take about 20 ms, with rests while the
 * ledger grows. Used by `verify` and `rebuild`.
 */
export class Pace {
  readonly #limits: PieceLimits
  readonly #clock: Clock
  /** The events of the next piece while it matters how long that takes. */
  #events: number
  /** The end of the ledger when the growth was last measured, and when that was. */
  #last: { readonly head: number; readonly at: number } | undefined
  /** Events that commands added then. */
  #perSecond = 0
  #startedAt: number

  constructor(limits: PieceLimits, clock = systemClock) {
    this.#limits = limits
    this.#events = limits.min
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  /** How many events the next piece may have: all that are allowed while no commands run, or where it is urgent. */
  events(urgency: number): number {
    return this.isBusy && urgency < 1 ? this.#events : this.#limits.max
  }

  /** Whether commands ran when the end of the ledger was last looked at. */
  get isBusy(): boolean {
    return this.#perSecond > 0
  }

  /** Takes where the ledger ends. Commands run while that changes from one time to the next. */
  look(head: number): void {
    const at = this.#clock.now()
    const last = this.#last
    if (last !== undefined && at - last.at < MIN_WINDOW_MS) return
    if (last !== undefined) this.#perSecond = (Math.abs(head - last.head) * 1_000) / (at - last.at)
    this.#last = { head, at }
  }

  /** Work begins: the time before it does not count. */
  start(): void {
    this.#startedAt = this.#clock.now()
  }

  /** After a piece of so many events: sizes the next one, and rests. */
  async afterPiece(events: number, urgency: number): Promise<void> {
    this.#events = nextPieceEvents(this.#events, events, this.#clock.now() - this.#startedAt, this.#limits)
    await this.#rest(urgency)
  }

  /** After any other work, which may be so little that the next rest is for it, too. */
  async rest(urgency: number): Promise<void> {
    if (this.#clock.now() - this.#startedAt >= MIN_WORK_MS) await this.#rest(urgency)
  }

  async #rest(urgency: number): Promise<void> {
    const ms = restMs(this.#clock.now() - this.#startedAt, this.#perSecond, urgency)
    if (ms > 0) await this.#clock.sleep(ms)
    this.start()
  }
}
