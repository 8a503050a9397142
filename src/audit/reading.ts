import { evolve } from '../books.ts'
import type { Head } from '../ledger/batch.ts'
import { EventRows } from '../ledger/event-rows.ts'
import { Replay } from '../ledger/replay.ts'
import type { Snapshot } from '../ledger/snapshot.ts'
import { EventChecks } from './event-checks.ts'
import type { Finding, Findings } from './finding.ts'
import { Pace } from './pace.ts'

/** How far a reading got, of the events that it is going to look at. */
export interface Progress {
  readonly events: number
  readonly of: number
}

export interface ReadingOptions {
  readonly progress: (progress: Progress) => void
  /** Ends it between two pages, with the signal's reason thrown. */
  readonly signal: AbortSignal
}

/**
 * What is looked at beside the reading of a page, with another connection: the database has time for both. What it finds
 * counts once the page is read: whichever of the two is faster, an earlier fault of an event is not passed over for it.
 */
export type BesidePage = (from: number, upTo: number) => Promise<readonly Finding[]>

/** Events of a page beside a service that is at work, and else. */
const SMALL_PAGE = 500
const PAGE = 100_000

/**
 * Reads the ledger from its first event on, checks each one and folds it. The past does not change: events are read as
 * they are committed, page by page, so that no moment has to be held for as long as that takes.
 */
export class LedgerReading {
  readonly replay = new Replay(evolve)
  readonly checks: EventChecks
  readonly #snapshot: Snapshot
  readonly #findings: Findings
  readonly #options: ReadingOptions
  readonly #pace: Pace
  /** All before it was read. */
  #next = 1
  #of: number

  private constructor(snapshot: Snapshot, findings: Findings, options: ReadingOptions, pace: Pace, of: number) {
    this.#snapshot = snapshot
    this.#findings = findings
    this.#options = options
    this.#pace = pace
    this.#of = of
    this.checks = new EventChecks(this.replay, findings)
  }

  static async begin(
    snapshot: Snapshot,
    head: Head,
    findings: Findings,
    options: ReadingOptions,
  ): Promise<LedgerReading> {
    const pace = await Pace.at(async () => (await snapshot.head()).position)
    return new LedgerReading(snapshot, findings, options, pace, head.position)
  }

  /** Whether it gives way to a service at work; not while that waits for it. */
  resting = true

  /** Reads on up to a position, or until there are findings enough. */
  async upTo(position: number, besidePage: BesidePage = async () => []): Promise<void> {
    this.#of = position
    while (this.#next <= position && !this.#findings.full) {
      const upTo = Math.min(this.#next + (this.#pace.busy ? SMALL_PAGE : PAGE) - 1, position)
      const [, found] = await Promise.all([this.#read(upTo), besidePage(this.#next, upTo)])
      for (const finding of found) this.#findings.add(finding)
      this.#next = upTo + 1
      await this.#pace.look()
    }
  }

  /** Reads whatever else there is, also what stands beyond the head. */
  async rest(): Promise<void> {
    await this.#read(null)
    this.#next = this.checks.last.position + 1
  }

  /** All before this position was read. */
  get next(): number {
    return this.#next
  }

  /** To be called between two pages of anything. */
  readonly onPage = async (): Promise<void> => {
    this.#options.signal.throwIfAborted()
    this.#options.progress({ events: this.checks.count, of: Math.max(this.#of, this.checks.count) })
    if (this.resting) await this.#pace.rest()
  }

  async #read(upTo: number | null): Promise<void> {
    for await (const page of this.#snapshot.events(this.#next, upTo)) {
      for (const rows = new EventRows(page); rows.next(); ) {
        this.checks.check(rows)
        if (this.#findings.full) return
      }
      await this.onPage()
    }
  }
}
