import type { ReplayState } from '../ledger/replay/replay-state.ts'
import type { Snapshot } from '../ledger/replay/snapshot.ts'
import { EventRowReader } from '../ledger/storage/event-row-reader.ts'
import type { Head } from '../ledger/storage/head.ts'
import { Pace } from './adaptive-throttle.ts'
import type { Ending } from './checkpoint/checkpoint.ts'
import type { Findings } from './finding.ts'
import { Beside, type LookBeside } from './verify/concurrent-check.ts'
import type { LastEvent } from './verify/integrity-checks.ts'
import { type ChainHalf, ChainHere, type OnChecked } from './verify/row-verifier/row-verifier.ts'
import { ChainAside } from './verify/row-verifier/worker-row-verifier.ts'
import { BookChecks } from './verify/semantic-checks.ts'

/** How far a reading got, of the events that it is going to look at. */
export interface Progress {
  readonly events: number
  readonly of: number
}

export interface ReadingOptions {
  readonly progress: (progress: Progress) => void
  /** Ends it between two pages, with the signal's reason thrown. */
  readonly signal: AbortSignal
  /** Called once, when it is first seen that a service is at work on the same database. */
  readonly onService?: () => Promise<void>
}

/** Events of a page beside a service that is at work, which cost the database 2 ms; and else. */
const SMALL_PAGE = 100
const PAGE = 100_000
/** Events of what is looked at beside in one piece: for each the database reads a table as a whole. */
const PIECE = 1_000_000
/** From so many events on a thread saves more time than it takes to begin with. */
const MANY = 30_000

/**
 * Reads the ledger from its first event on, checks each one and folds it. The past does not change: events are read as
 * they are committed, page by page, so that no moment has to be held for as long as that takes.
 */
export class LedgerReading {
  /** Whether it gives way to a service at work; not while that waits for it. */
  resting = true
  readonly #snapshot: Snapshot
  readonly #findings: Findings
  readonly #options: ReadingOptions
  readonly #pace: Pace
  readonly #books = new BookChecks()
  readonly #chain: ChainHalf
  /** Whether a service was seen at work. */
  #served: boolean
  /** All before it was read. */
  #next = 1
  #of: number
  /** Milliseconds that the other half worked since the last rest. */
  #aside = 0
  /** Events of the stretch that was read last. */
  #stretch = Number.POSITIVE_INFINITY
  /** Whether stretches become shorter: beside a service that writes faster than this reads it would never end. */
  #gains = true

  private constructor(snapshot: Snapshot, findings: Findings, options: ReadingOptions, pace: Pace, head: Head) {
    this.#snapshot = snapshot
    this.#findings = findings
    this.#options = options
    this.#pace = pace
    this.#served = pace.busy
    this.#of = head.position
    const onChecked: OnChecked = ({ found, took }) => {
      findings.addAll(found)
      this.#aside += took
    }
    this.#chain = head.position < MANY ? new ChainHere(onChecked) : new ChainAside(onChecked, options.signal)
  }

  /** To be closed. */
  static async begin(
    snapshot: Snapshot,
    head: Head,
    findings: Findings,
    options: ReadingOptions,
  ): Promise<LedgerReading> {
    const pace = await Pace.at(async () => (await snapshot.head()).position)
    // Before there is a second thread: its beginning is a good part of what a service would feel.
    if (pace.busy) await options.onService?.()
    return new LedgerReading(snapshot, findings, options, pace, head)
  }

  async close(): Promise<void> {
    await this.#chain.close()
  }

  /** At its position the ledger must have its hash. To be told before anything is read. */
  expect(checkpoint: Ending): void {
    this.#chain.expect(checkpoint)
  }

  /**
   * Reads on up to a position, or until there are findings enough. What has come in meanwhile is a stretch of its own
   * then: when it is not half as long, it is read without giving way.
   */
  async upTo(position: number, look: LookBeside = async () => []): Promise<void> {
    this.#of = position
    const stretch = position - this.#next + 1
    this.#gains = stretch <= this.#stretch / 2
    this.#stretch = stretch
    await this.#readStretch(position, look)
    this.#gains = true
  }

  async #readStretch(position: number, look: LookBeside): Promise<void> {
    const beside = new Beside(look, this.#next)
    while (this.#next <= position && !this.#findings.full) {
      const busy = this.#pace.busy && this.#rests
      const upTo = Math.min(this.#next + (busy ? SMALL_PAGE : PAGE) - 1, position)
      if (!busy) beside.begin(upTo, Math.min(this.#next + PIECE - 1, position))
      const before = this.count
      await this.#read(upTo)
      if (busy) {
        // One after the other: a service at work is to keep a processor for itself.
        beside.begin(upTo, upTo)
        await beside.found()
        await this.onPage()
      }
      // A head that is far beyond the last event, as somebody may have set it, is not gone after page by page.
      const empty = this.count === before
      this.#next = empty ? ((await this.#snapshot.firstAfter(upTo)) ?? position + 1) : upTo + 1
      await this.#look()
      this.#options.signal.throwIfAborted()
    }
    for (const finding of await beside.found()) this.#findings.add(finding)
  }

  /** Reads whatever else there is, also what stands beyond the head. */
  async rest(): Promise<void> {
    await this.#read(null)
  }

  /** Waits until also the other half has looked at all that was read. */
  async settled(): Promise<void> {
    await this.#chain.settled()
  }

  /** Brings the balances that the other half keeps to where all other rows are. To be called once. */
  async bringBalances(): Promise<void> {
    this.#books.bring(await this.#chain.takeBalances())
  }

  /** All before this position was read. */
  get next(): number {
    return this.#next
  }

  /** Events that were looked at. */
  get count(): number {
    return this.#books.count
  }

  /** The last event, once all is settled; before the first one position 0, the genesis and no time. */
  get last(): LastEvent {
    return this.#chain.last
  }

  /** All that follows from the events so far; of balances only those that are watched until the others are brought. */
  get rows(): ReplayState {
    return this.#books.replay.state
  }

  /** To be called between two pages of anything. */
  readonly onPage = async (): Promise<void> => {
    this.#options.signal.throwIfAborted()
    this.#options.progress({ events: this.count, of: Math.max(this.#of, this.count) })
    const aside = this.#aside
    // What the other half works during the rest is for the next one.
    this.#aside = 0
    if (!this.#rests) this.#pace.waive()
    else if (!(await this.#pace.rest(aside))) this.#aside += aside
  }

  async #look(): Promise<void> {
    await this.#pace.look()
    if (!this.#pace.busy || this.#served) return
    this.#served = true
    await this.#options.onService?.()
  }

  get #rests(): boolean {
    return this.resting && this.#gains
  }

  async #read(upTo: number | null): Promise<void> {
    for await (const page of this.#snapshot.events(this.#next, upTo)) {
      for (const rows = new EventRowReader(page); rows.next(); ) this.#books.check(rows)
      await this.#chain.page(page)
      this.#findings.addAll(this.#books.take())
      if (this.#findings.full) return
      await this.onPage()
    }
  }
}
