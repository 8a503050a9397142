import { type Clock, systemClock } from '../../config/clock.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'

/** Characters of a page of events: some 2 ms of the event loop. An event may be a gift to a hundred receivers. */
const PAGE_CHARACTERS = 48 * 1024
const FIRST_PAGE_EVENTS = 4
const MAX_PAGE_EVENTS = 50
/** Limits a pause: most of a page's time may have been spent waiting for the database. */
const MAX_PAUSE_MS = 50

/**
 * Sizes and spaces the pages of a long read, so that requests wait for one short page at most and have at least half of
 * the event loop's time.
 */
export class PacedPages {
  readonly #rests: boolean
  readonly #clock: Clock
  #startedAt: number | undefined
  #pageEvents = FIRST_PAGE_EVENTS

  /** Without rests for a read that others wait for. */
  constructor(rests: boolean, clock = systemClock) {
    this.#rests = rests
    this.#clock = clock
  }

  /** Pauses for as long as the last page took; returns how many events to read next. */
  async next(): Promise<number> {
    const clock = this.#clock
    if (this.#rests && this.#startedAt !== undefined)
      await clock.sleep(Math.min(clock.now() - this.#startedAt, MAX_PAUSE_MS))
    this.#startedAt = clock.now()
    return this.#pageEvents
  }

  /** Sizes the next page by the events of this one. */
  adapt(events: readonly StoredEvent[]): void {
    if (events.length === 0) return
    const characters = events.reduce((sum, { entry }) => sum + entry.data.length, 0)
    const fitting = Math.floor((PAGE_CHARACTERS * events.length) / Math.max(characters, 1))
    // A page of short events may be followed by long ones.
    this.#pageEvents = Math.max(1, Math.min(fitting, 2 * this.#pageEvents, MAX_PAGE_EVENTS))
  }
}
