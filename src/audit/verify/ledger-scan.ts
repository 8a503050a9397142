import type { EventType } from '../../../schema/events.ts'
import { systemClock } from '../../db/async.ts'
import { Pace } from '../../db/pace.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { balances } from '../../ledger/rules/account.ts'
import type { Page } from '../../ledger/storage/copy-rows.ts'
import type { Head } from '../../ledger/storage/event-hash.ts'
import { EventRowReader } from '../../ledger/storage/event-row-reader.ts'
import type { Progress } from '../jobs/job-rows.ts'
import type { OpenedSeal } from '../seals/open-seal.ts'
import { proveSeal, proveSnapshot } from '../seals/prove-seal.ts'
import type { Sealed } from '../seals/read-seals.ts'
import { type WrittenSnapshot, writeSnapshot } from '../seals/snapshot-files.ts'
import type { Restore } from './check-checkpoint.ts'
import type { DrawFrequencies } from './draws/draw-counts.ts'
import type { Finding, Findings } from './finding.ts'
import type { LastEvent } from './integrity-checks.ts'
import type { LinesDigest } from './line-digests.ts'
import { InlineRowVerifier, type OnPageResult, type RowVerifier, WorkerRowVerifier } from './row-verifier.ts'
import { SemanticChecks } from './semantic-checks.ts'

export interface ScanOptions {
  readonly progress: (progress: Progress) => void
  /** When aborted, the scan throws its reason before the next page. */
  readonly signal: AbortSignal
}

/** Events of a page; while no commands run the most. */
const PAGE_LIMITS = { min: 500, max: 100_000 }
/** How often the head is read to see whether commands run; first soon, as the scan waits for it. */
const CHECK_INTERVAL_MS = 200
const FIRST_CHECK_MS = 50
/** From so many events on a worker thread saves more time than it takes to start. */
const MIN_WORKER_EVENTS = 30_000

/**
 * As that of `restMs`, for a range of events that came while another one was read: with more than half as many, the
 * service writes nearly as fast as they are read, and who rests might never reach the end.
 */
export const rangeUrgency = (events: number, before: number): number => (events > before / 2 ? 1 : 0)

/**
 * Reads the ledger from its first event or a seal on, checks each event and folds it. Stored events never change, so they are read
 * page by page without one transaction that would have to stay open for all of it.
 */
export class LedgerScan {
  /** Whether it rests while a service is busy. Turned off while commands wait for this scan. */
  isThrottled = true
  readonly #snapshot: Snapshot
  readonly #findings: Findings
  readonly #options: ScanOptions
  readonly #pace: Pace
  #checkedAt = systemClock.now()
  readonly #semanticChecks: SemanticChecks
  readonly #rowVerifier: RowVerifier
  /** The position after the last one that was read. */
  #next: number
  readonly #first: number
  #total: number
  /** Events of the range before this one. */
  #lastRangeEvents = Number.POSITIVE_INFINITY
  /** The urgency of the range that is read. */
  #rangeUrgency = 0

  private constructor(
    snapshot: Snapshot,
    findings: Findings,
    options: ScanOptions,
    pace: Pace,
    head: Head,
    seal: OpenedSeal | null,
  ) {
    this.#snapshot = snapshot
    this.#findings = findings
    this.#options = options
    this.#pace = pace
    this.#first = (seal?.last.position ?? 0) + 1
    this.#next = this.#first
    this.#total = head.position
    this.#semanticChecks = new SemanticChecks(seal?.tables)
    const onPageResult: OnPageResult = ({ findings: found }) => findings.addAll(found)
    this.#rowVerifier =
      head.position - this.#first < MIN_WORKER_EVENTS
        ? new InlineRowVerifier(onPageResult)
        : new WorkerRowVerifier(onPageResult, options.signal)
    if (seal !== null) this.#rowVerifier.begin(seal.last, seal.tables.get(balances.name) ?? null)
  }

  /** Begins at a seal, if one is given, whose files can be removed then. The caller closes it. */
  static async start(
    snapshot: Snapshot,
    head: Head,
    findings: Findings,
    options: ScanOptions,
    seal: OpenedSeal | null = null,
  ): Promise<LedgerScan> {
    const pace = new Pace(PAGE_LIMITS)
    pace.look((await snapshot.head()).position)
    await systemClock.sleep(FIRST_CHECK_MS)
    pace.look((await snapshot.head()).position)
    const scan = new LedgerScan(snapshot, findings, options, pace, head, seal)
    if (seal !== null) await scan.drain()
    return scan
  }

  async close(): Promise<void> {
    await this.#rowVerifier.close()
    this.rows[Symbol.dispose]()
  }

  /** Keeps what the ledger's index should say. Call it before the first scan. */
  expectIndex(): void {
    this.#rowVerifier.expectIndex()
  }

  async addIndexPages(pages: Page, after: number): Promise<void> {
    await this.#rowVerifier.submitIndexPages(pages, after)
    await this.onPage()
  }

  /** Notices meanwhile that a service became busy, or idle. */
  async endIndexSegment(): Promise<void> {
    await this.#checkLoad()
  }

  /** As `IntegrityChecks.differingBlocks`. */
  async differingBlocks(before: number): Promise<readonly number[]> {
    return this.#rowVerifier.differingBlocks(before)
  }

  /**
   * Reads up to a position, or until the findings are full. Call it again for the events that were committed meanwhile:
   * when they are more than half as many as those of the call before, it reads them without resting.
   */
  async scanUpTo(position: number, checkRange: CheckRange = async () => []): Promise<void> {
    this.#total = Math.max(this.#total, position)
    const rangeEvents = position - this.#next + 1
    this.#rangeUrgency = rangeUrgency(rangeEvents, this.#lastRangeEvents)
    this.#lastRangeEvents = rangeEvents
    await this.scanPart(position, checkRange)
    this.#rangeUrgency = 0
  }

  /** As `scanUpTo`, where it is known already that more events follow. */
  async scanPart(position: number, checkRange: CheckRange): Promise<void> {
    const concurrentCheck = new ConcurrentCheck(checkRange)
    while (this.#next <= position && !this.#findings.isFull) {
      const isPaced = this.#pace.isBusy && this.#urgency < 1
      const from = this.#next
      const upTo = Math.min(from + this.#pace.events(this.#urgency) - 1, position)
      this.#pace.start()
      if (!isPaced) concurrentCheck.start(from, upTo)
      const before = this.count
      await this.#scanPages(upTo)
      if (isPaced) {
        // One after the other, to leave a processor to the service.
        concurrentCheck.start(from, upTo)
        await concurrentCheck.findings()
        await this.#pace.afterPiece(upTo - from + 1, this.#urgency)
      }
      // Skips gaps: a head that was tampered with may be far beyond the last event.
      const isEmpty = this.count === before
      this.#next = isEmpty ? ((await this.#snapshot.firstAfter(upTo)) ?? position + 1) : upTo + 1
      await this.#checkLoad()
      this.#options.signal.throwIfAborted()
    }
    for (const finding of await concurrentCheck.findings()) this.#findings.add(finding)
  }

  /** Reads all remaining events, even beyond the head. */
  async scanRest(): Promise<void> {
    await this.#scanPages(null)
    if (this.#findings.isFull) return
    this.#semanticChecks.finish()
    this.#findings.addAll(this.#semanticChecks.takeFindings())
  }

  /** Waits until the row verifier has checked all that was read. */
  async drain(): Promise<void> {
    await this.#rowVerifier.drain()
  }

  /** Compares what a seal says with the rows that were replayed so far, and with its snapshot, if that is in a folder. */
  async proveSeal(sealed: Sealed, sealsFolder: string | undefined): Promise<void> {
    if (this.#findings.isFull) return
    const ofBalances = await this.#rowVerifier.balancesDigest(null)
    for (const finding of await proveSeal(sealed, this.rows, ofBalances, this.onPage)) this.#findings.add(finding)
    if (sealsFolder === undefined) return
    for (const finding of await proveSnapshot(sealsFolder, sealed, this.onPage)) this.#findings.add(finding)
  }

  /** Writes a snapshot of all rows as of the last event that was read. Call it before `importBalances`. */
  async writeSnapshot(sealsFolder: string): Promise<WrittenSnapshot> {
    await this.drain()
    const saveBalances = (path: string): Promise<LinesDigest> => this.#rowVerifier.balancesDigest(path)
    return writeSnapshot(sealsFolder, this.last, this.rows, saveBalances, this.onPage)
  }

  /** Moves the balances from the row verifier to `rows`. Call it once. */
  async importBalances(): Promise<void> {
    this.#semanticChecks.importBalances(await this.#rowVerifier.takeBalances())
  }

  /** The position after the last one that was read. */
  get next(): number {
    return this.#next
  }

  /** Events that were checked. */
  get count(): number {
    return this.#semanticChecks.count
  }

  /** The last event, after `drain`; before the first one position 0, the genesis hash and no time. */
  get last(): LastEvent {
    return this.#rowVerifier.last
  }

  /** The times at which commits were found to be lost. */
  get restores(): readonly Restore[] {
    return this.#semanticChecks.restores
  }

  /** The types of the events that were read. */
  get types(): ReadonlySet<EventType> {
    return this.#semanticChecks.types
  }

  /** Whether the ledger may have events of a type and version: the types before a seal are not known. */
  mayHave(type: string, version: number): boolean {
    return this.#first > 1 || this.#semanticChecks.hasChecked(type, version)
  }

  /** What the events that were read drew. */
  get drawFrequencies(): DrawFrequencies {
    return this.#semanticChecks.drawCounts.frequencies
  }

  /** The state replayed so far. Until `importBalances` it has only the balances that evolvers read. */
  get rows(): ReplayState {
    return this.#semanticChecks.replay.state
  }

  /** Call it between two pages of any table. */
  readonly onPage = async (): Promise<void> => {
    this.onPiece()
    await this.#pace.rest(this.#urgency)
  }

  /** As `onPage`, for work that rests by itself. */
  readonly onPiece = (): void => {
    this.#options.signal.throwIfAborted()
    this.#options.progress({ events: this.count, of: Math.max(this.#total - this.#first + 1, this.count) })
  }

  async #checkLoad(): Promise<void> {
    if (systemClock.now() - this.#checkedAt < CHECK_INTERVAL_MS) return
    this.#pace.look((await this.#snapshot.head()).position)
    this.#checkedAt = systemClock.now()
  }

  get #urgency(): number {
    return this.isThrottled ? this.#rangeUrgency : 1
  }

  async #scanPages(upTo: number | null): Promise<void> {
    for await (const page of this.#snapshot.events(this.#next, upTo)) {
      for (const rows = new EventRowReader(page); rows.next(); ) this.#semanticChecks.check(rows)
      await this.#rowVerifier.submit(page)
      this.#findings.addAll(this.#semanticChecks.takeFindings())
      if (this.#findings.isFull) return
      this.onPiece()
    }
  }
}

/** Checks a range of positions on a second connection while the events are scanned on the first. */
type CheckRange = (from: number, upTo: number) => Promise<readonly Finding[]>

/**
 * Checks one range of the ledger after the other. The scan takes the findings at its end, so that they cannot stop it
 * before it finds an earlier event.
 */
class ConcurrentCheck {
  readonly #check: CheckRange
  #running: Promise<void> = Promise.resolve()
  readonly #findings: Finding[] = []

  constructor(check: CheckRange) {
    this.#check = check
  }

  /** Starts a range, once those before it are checked. */
  start(from: number, upTo: number): void {
    this.#running = this.#running.then(async () => void this.#findings.push(...(await this.#check(from, upTo))))
    // `findings` rejects with it.
    this.#running.catch(() => {})
  }

  /** All findings, once the ranges that were started are checked. */
  async findings(): Promise<readonly Finding[]> {
    await this.#running
    return this.#findings
  }
}
