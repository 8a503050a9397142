import type { Page } from '../../../db/copy-out.ts'
import { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import type { EventFinding } from '../../finding.ts'
import type { BalanceSnapshot } from '../balance-checks.ts'
import { IntegrityChecks, type LastEvent } from '../integrity-checks.ts'

/** What was found on a page, and where the ledger stands at its end. */
export interface PageResult {
  readonly findings: readonly EventFinding[]
  readonly last: LastEvent
  /** Milliseconds that it took. */
  readonly durationMs: number
}

/** `ChainChecks` page by page, here or in a thread. */
export interface RowVerifier {
  /**
   * Has the rows of a page checked, sooner or later, and takes the page away: whoever had it has it no more. Waits while
   * it is far behind. Rejects when it cannot go on.
   */
  submit(rows: Page): Promise<void>
  /** Waits until all pages are checked. */
  drain(): Promise<void>
  expectCheckpoint(checkpoint: CheckpointHead): void
  /** `ChainChecks.takeBalances`, when all pages are checked. */
  takeBalances(): Promise<BalanceSnapshot>
  /** Where the ledger stands after the pages that are checked. */
  readonly last: LastEvent
  close(): Promise<void>
}

/** Hears of every page that was checked, in their order. */
export type OnPageResult = (checked: PageResult) => void

/** Checks the rows of a page. */
export function checkPage(checks: IntegrityChecks, bytes: Buffer): PageResult {
  const began = performance.now()
  for (const rows = new EventRowReader(bytes); rows.next(); ) checks.check(rows)
  return { findings: checks.takeFindings(), last: checks.last, durationMs: performance.now() - began }
}

/** In this thread, at once. */
export class InlineRowVerifier implements RowVerifier {
  readonly #checks = new IntegrityChecks()
  readonly #onChecked: OnPageResult

  constructor(onChecked: OnPageResult) {
    this.#onChecked = onChecked
  }

  async submit(rows: Page): Promise<void> {
    // What it takes is of the time of whoever calls.
    this.#onChecked({ ...checkPage(this.#checks, rows), durationMs: 0 })
  }

  async drain(): Promise<void> {}

  expectCheckpoint(checkpoint: CheckpointHead): void {
    this.#checks.expectCheckpoint(checkpoint)
  }

  async takeBalances(): Promise<BalanceSnapshot> {
    return this.#checks.takeBalances()
  }

  get last(): LastEvent {
    return this.#checks.last
  }

  async close(): Promise<void> {}
}
