import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SingleFlight } from '../../db/single-flight.ts'
import type { Tables } from '../../db/tables.ts'

const POLL_INTERVAL_MS = 250
/** Without an answer for this long it is not asked for more. */
const MAX_SILENCE_MS = 2_000
/** How far behind the ledger it may be: 10 s, less what this instance may learn of a commit late. */
const MAX_LAG_MS = 9_500
/** How long it may have events that this instance has not read from the ledger: for longer only if they are not in it. */
const MAX_LEAD_MS = 2 * POLL_INTERVAL_MS
/** How long a read waits for a position, and how long it pauses between two polls. */
const MAX_WAIT_MS = 250
const WAIT_INTERVAL_MS = 10

/** Connections to one database. */
export interface ReadDatabase {
  /** For requests. */
  readonly db: Kysely<Tables>
  /** For reports. */
  readonly reports: Kysely<Tables>
  /** For whoever opens connections of its own. */
  readonly url: string
}

interface PositionSince {
  readonly position: number
  /** By the clock of `Standby`, in milliseconds. */
  readonly since: number
}

/** A database that replays the ledger of another one and answers reads; polled for how far it is. */
export class Standby {
  readonly db: Kysely<Tables>
  readonly reports: Kysely<Tables>
  readonly url: string
  readonly #head: () => Promise<number>
  readonly #now: () => number
  /** How far the ledger is, as far as this instance knows. */
  readonly #ledger: { readonly position: number }
  readonly #polls = new SingleFlight(() => this.#poll())
  #position = 0
  #answeredAt = Number.NEGATIVE_INFINITY
  /** Positions of the ledger that the standby has not reached, in order, each committed after `since`. */
  #lacking: PositionSince[]
  /** Where the ledger was last seen, and when. */
  #seen: PositionSince
  /** Where the standby was when it was first seen ahead of the ledger. */
  #lead: PositionSince | undefined
  #timer: NodeJS.Timeout | undefined

  /** `head` asks this database, and no other, where its ledger ends; `now` is in milliseconds. */
  constructor(
    { db, reports, url }: ReadDatabase,
    head: () => Promise<number>,
    ledger: { readonly position: number },
    now = () => performance.now(),
  ) {
    this.db = db
    this.reports = reports
    this.url = url
    this.#head = head
    this.#ledger = ledger
    this.#now = now
    const { position } = ledger
    this.#seen = { position, since: now() }
    // It is not known since when.
    this.#lacking = [{ position, since: Number.NEGATIVE_INFINITY }]
  }

  /** Polls it, and again until `stop`. A standby that cannot be read is not usable. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      // Also while a poll gets no answer.
      this.#watchLedger()
      void this.#polls.run()
    }, POLL_INTERVAL_MS)
    await this.#polls.run()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Whatever is read from now on takes into account every event up to this position. */
  get position(): number {
    return this.#position
  }

  /** Whether it answers, is not far behind, and has no events that the ledger lacks. */
  get isUsable(): boolean {
    const now = this.#now()
    if (now - this.#answeredAt > MAX_SILENCE_MS) return false
    const [oldest] = this.#lacking
    if (oldest !== undefined && now - oldest.since > MAX_LAG_MS) return false
    const lead = this.#lead
    return lead === undefined || lead.position <= this.#ledger.position || now - lead.since <= MAX_LEAD_MS
  }

  /** Waits until it answers with a position or a later one; false when that takes too long. */
  async reach(position: number): Promise<boolean> {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      // One that hangs must not keep the caller.
      const answered = await Promise.race([this.#polls.run(), sleep(left, false, { ref: false })])
      if (answered && this.#position >= position) return true
      await sleep(WAIT_INTERVAL_MS)
    }
  }

  /** Whether it answered. */
  async #poll(): Promise<boolean> {
    this.#watchLedger()
    try {
      this.#position = await this.#head()
    } catch {
      // It is not usable until it answers again.
      return false
    }
    const position = this.#position
    const now = this.#now()
    this.#answeredAt = now
    this.#lacking = this.#lacking.filter((lacking) => lacking.position > position)
    if (position <= this.#ledger.position) this.#lead = undefined
    else if (this.#lead === undefined || this.#lead.position <= this.#ledger.position) {
      this.#lead = { position, since: now }
    }
    return true
  }

  /** Remembers where the ledger is, until the standby is there. */
  #watchLedger(): void {
    const { position } = this.#ledger
    const now = this.#now()
    if (position > this.#seen.position) this.#lacking.push({ position, since: this.#seen.since })
    this.#seen = { position, since: now }
    // Of those that are too old, the latest decides.
    while (this.#lacking[1] !== undefined && now - this.#lacking[1].since > MAX_LAG_MS) this.#lacking.shift()
  }
}
