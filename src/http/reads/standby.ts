import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SingleFlight } from '../../db/single-flight.ts'
import type { Tables } from '../../db/tables.ts'

const POLL_INTERVAL_MS = 250
/** Without an answer for this long it is not asked for more. */
const MAX_SILENCE_MS = 2_000
/** How far behind the ledger it may be. */
const MAX_LAG_MS = 10_000
/** How long a read waits for a position, and how long it pauses before it looks again. */
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

/** A database that replays the ledger of another one and answers reads; polled for how far it is. */
export class Standby {
  readonly db: Kysely<Tables>
  readonly reports: Kysely<Tables>
  readonly url: string
  readonly #head: () => Promise<number>
  readonly #now: () => number
  /** How far the ledger is, as far as this instance knows. */
  readonly #ledger: { readonly position: number }
  readonly #looks = new SingleFlight(() => this.#look())
  #position = 0
  #answeredAt = Number.NEGATIVE_INFINITY
  /** A position of the ledger that the standby had not reached when it was first seen, by `#now`. */
  #behind: { readonly position: number; readonly since: number } | undefined
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
  }

  /** Looks where it is, and goes on looking until `stop`. A standby that cannot be read is not usable. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#looks.run(), POLL_INTERVAL_MS)
    await this.#looks.run()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Whatever is read from now on takes into account every event up to this position. */
  get position(): number {
    return this.#position
  }

  /** Whether it answers and is not far behind. */
  get isUsable(): boolean {
    const now = this.#now()
    if (now - this.#answeredAt > MAX_SILENCE_MS) return false
    return this.#behind === undefined || now - this.#behind.since <= MAX_LAG_MS
  }

  /** Waits until it has a position; false when that takes too long. */
  async reach(position: number): Promise<boolean> {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      // One that hangs must not keep the caller.
      await Promise.race([this.#looks.run(), sleep(left, undefined, { ref: false })])
      if (this.#position >= position) return true
      await sleep(WAIT_INTERVAL_MS)
    }
  }

  async #look(): Promise<void> {
    const target = this.#ledger.position
    try {
      this.#position = await this.#head()
    } catch {
      // It is not usable until it answers again.
      return
    }
    const now = this.#now()
    this.#answeredAt = now
    if (this.#behind !== undefined && this.#position < this.#behind.position) return
    this.#behind = this.#position < target ? { position: target, since: now } : undefined
  }
}
