import type { ReplayState } from '../ledger/replay/replay-state.ts'
import type { Snapshot } from '../ledger/replay/snapshot.ts'
import { EventRowReader } from '../ledger/storage/event-row-reader.ts'
import type { Head } from '../ledger/storage/head.ts'
import { AdaptiveThrottle } from './adaptive-throttle.ts'
import type { CheckpointHead } from './checkpoint/checkpoint.ts'
import type { Findings } from './finding.ts'
import { type CheckRange, ConcurrentCheck } from './verify/concurrent-check.ts'
import type { LastEvent } from './verify/integrity-checks.ts'
import { InlineRowVerifier, type OnPageResult, type RowVerifier } from './verify/row-verifier/row-verifier.ts'
import { WorkerRowVerifier } from './verify/row-verifier/worker-row-verifier.ts'
import { SemanticChecks } from './verify/semantic-checks.ts'

/** How far a reading got, of the events that it is going to look at. */
export interface Progress {
  readonly events: number
  readonly of: number
}

export interface ScanOptions {
  readonly progress: (progress: Progress) => void
  /** Ends it between two pages, with the signal's reason thrown. */
  readonly signal: AbortSignal
  /** Called once, when it is first seen that a service is at work on the same database. */
  readonly onService?: () => Promise<void>
}

/** Events of a page beside a service that is at work, which cost the database 2 ms; and else. */
const BUSY_PAGE_EVENTS = 100
const PAGE_EVENTS = 100_000
/** Events of what is looked at beside in one piece: for each the database reads a table as a whole. */
const CONCURRENT_CHECK_EVENTS = 1_000_000
/** From so many events on a thread saves more time than it takes to begin with. */
const MIN_WORKER_EVENTS = 30_000

/**
 * Reads the ledger from its first event on, checks each one and folds it. The past does not change: events are read as
 * they are committed, page by page, so that no moment has to be held for as long as that takes.
 */
export class LedgerScan {
  /** Whether it gives way to a service at work; not while that waits for it. */
  isThrottled = true
  readonly #snapshot: Snapshot
  readonly #findings: Findings
  readonly #options: ScanOptions
  readonly #throttle: AdaptiveThrottle
  readonly #semanticChecks = new SemanticChecks()
  readonly #rowVerifier: RowVerifier
  /** Whether a service was seen at work. */
  #sawService: boolean
  /** All before it was read. */
  #next = 1
  #total: number
  /** Milliseconds that the other half worked since the last rest. */
  #workerMs = 0
  /** Events of the stretch that was read last. */
  #lastRangeEvents = Number.POSITIVE_INFINITY
  /** Whether stretches become shorter: beside a service that writes faster than this reads it would never end. */
  #isCatchingUp = true

  private constructor(
    snapshot: Snapshot,
    findings: Findings,
    options: ScanOptions,
    throttle: AdaptiveThrottle,
    head: Head,
  ) {
    this.#snapshot = snapshot
    this.#findings = findings
    this.#options = options
    this.#throttle = throttle
    this.#sawService = throttle.busy
    this.#total = head.position
    const onPageResult: OnPageResult = ({ findings: found, durationMs: took }) => {
      findings.addAll(found)
      this.#workerMs += took
    }
    this.#rowVerifier =
      head.position < MIN_WORKER_EVENTS
        ? new InlineRowVerifier(onPageResult)
        : new WorkerRowVerifier(onPageResult, options.signal)
  }

  /** To be closed. */
  static async start(snapshot: Snapshot, head: Head, findings: Findings, options: ScanOptions): Promise<LedgerScan> {
    const pace = await AdaptiveThrottle.start(async () => (await snapshot.head()).position)
    // Before there is a second thread: its beginning is a good part of what a service would feel.
    if (pace.busy) await options.onService?.()
    return new LedgerScan(snapshot, findings, options, pace, head)
  }

  async close(): Promise<void> {
    await this.#rowVerifier.close()
  }

  /** At its position the ledger must have its hash. To be told before anything is read. */
  expectCheckpoint(checkpoint: CheckpointHead): void {
    this.#rowVerifier.expectCheckpoint(checkpoint)
  }

  /**
   * Reads on up to a position, or until there are findings enough. What has come in meanwhile is a stretch of its own
   * then: when it is not half as long, it is read without giving way.
   */
  async scanUpTo(position: number, look: CheckRange = async () => []): Promise<void> {
    this.#total = position
    const stretch = position - this.#next + 1
    this.#isCatchingUp = stretch <= this.#lastRangeEvents / 2
    this.#lastRangeEvents = stretch
    await this.#scanRange(position, look)
    this.#isCatchingUp = true
  }

  async #scanRange(position: number, look: CheckRange): Promise<void> {
    const beside = new ConcurrentCheck(look, this.#next)
    while (this.#next <= position && !this.#findings.isFull) {
      const busy = this.#throttle.busy && this.#shouldRest
      const upTo = Math.min(this.#next + (busy ? BUSY_PAGE_EVENTS : PAGE_EVENTS) - 1, position)
      if (!busy) beside.start(upTo, Math.min(this.#next + CONCURRENT_CHECK_EVENTS - 1, position))
      const before = this.count
      await this.#scanPages(upTo)
      if (busy) {
        // One after the other: a service at work is to keep a processor for itself.
        beside.start(upTo, upTo)
        await beside.findings()
        await this.onPage()
      }
      // A head that is far beyond the last event, as somebody may have set it, is not gone after page by page.
      const empty = this.count === before
      this.#next = empty ? ((await this.#snapshot.firstAfter(upTo)) ?? position + 1) : upTo + 1
      await this.#checkLoad()
      this.#options.signal.throwIfAborted()
    }
    for (const finding of await beside.findings()) this.#findings.add(finding)
  }

  /** Reads whatever else there is, also what stands beyond the head. */
  async scanRest(): Promise<void> {
    await this.#scanPages(null)
  }

  /** Waits until also the other half has looked at all that was read. */
  async drain(): Promise<void> {
    await this.#rowVerifier.drain()
  }

  /** Brings the balances that the other half keeps to where all other rows are. To be called once. */
  async importBalances(): Promise<void> {
    this.#semanticChecks.importBalances(await this.#rowVerifier.takeBalances())
  }

  /** All before this position was read. */
  get next(): number {
    return this.#next
  }

  /** Events that were looked at. */
  get count(): number {
    return this.#semanticChecks.count
  }

  /** The last event, once all is settled; before the first one position 0, the genesis and no time. */
  get last(): LastEvent {
    return this.#rowVerifier.last
  }

  /** All that follows from the events so far; of balances only those that are watched until the others are brought. */
  get rows(): ReplayState {
    return this.#semanticChecks.replay.state
  }

  /** To be called between two pages of anything. */
  readonly onPage = async (): Promise<void> => {
    this.#options.signal.throwIfAborted()
    this.#options.progress({ events: this.count, of: Math.max(this.#total, this.count) })
    const aside = this.#workerMs
    // What the other half works during the rest is for the next one.
    this.#workerMs = 0
    if (!this.#shouldRest) this.#throttle.skipRest()
    else if (!(await this.#throttle.rest(aside))) this.#workerMs += aside
  }

  async #checkLoad(): Promise<void> {
    await this.#throttle.checkLoad()
    if (!this.#throttle.busy || this.#sawService) return
    this.#sawService = true
    await this.#options.onService?.()
  }

  get #shouldRest(): boolean {
    return this.isThrottled && this.#isCatchingUp
  }

  async #scanPages(upTo: number | null): Promise<void> {
    for await (const page of this.#snapshot.events(this.#next, upTo)) {
      for (const rows = new EventRowReader(page); rows.next(); ) this.#semanticChecks.check(rows)
      await this.#rowVerifier.submit(page)
      this.#findings.addAll(this.#semanticChecks.takeFindings())
      if (this.#findings.isFull) return
      await this.onPage()
    }
  }
}
