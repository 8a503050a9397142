import type { Page } from '../../../ledger/storage/copy-rows.ts'
import { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import type { EventFinding } from '../../finding.ts'
import type { BalanceSnapshot } from '../balances/balance-checks.ts'
import type { IndexTable } from '../indexes/index-row-reader.ts'
import { IntegrityChecks, type LastEvent } from '../integrity-checks.ts'

/** Findings of a page, and the last event on it. */
export interface PageResult {
  readonly findings: readonly EventFinding[]
  readonly last: LastEvent
}

/** Runs the integrity checks page by page, inline or in a worker. */
export interface RowVerifier {
  /**
   * Queues a page to be checked, and waits while too many are queued. The page must not be used afterwards: its memory
   * may have been transferred to the worker. Rejects when the worker failed.
   */
  submit(rows: Page): Promise<void>
  /** Waits until all pages are checked. */
  drain(): Promise<void>
  /** `IntegrityChecks.expectIndexes`; call it before the first page. */
  expectIndexes(): void
  /** As `submit`, with stored rows of an index. */
  submitIndexRows(table: IndexTable, rows: Page): Promise<void>
  /** `IntegrityChecks.differingBlocks`, once all pages are checked. */
  differingBlocks(before: number): Promise<readonly number[]>
  /** `IntegrityChecks.takeBalances`, once all pages are checked. */
  takeBalances(): Promise<BalanceSnapshot>
  /** The last event of the pages checked so far. */
  readonly last: LastEvent
  close(): Promise<void>
}

/** Called for every page, in order. */
export type OnPageResult = (result: PageResult) => void

/** Checks the rows of a page. */
export function checkPage(checks: IntegrityChecks, bytes: Buffer): PageResult {
  for (const rows = new EventRowReader(bytes); rows.next(); ) checks.check(rows)
  return { findings: checks.takeFindings(), last: checks.last }
}

/** Adds a page of an index. */
export function addIndexPage(checks: IntegrityChecks, table: IndexTable, page: Page): PageResult {
  checks.addIndexRows(table, page)
  return { findings: [], last: checks.last }
}

/** Checks each page at once in the calling thread. */
export class InlineRowVerifier implements RowVerifier {
  readonly #checks = new IntegrityChecks()
  readonly #onPageResult: OnPageResult

  constructor(onPageResult: OnPageResult) {
    this.#onPageResult = onPageResult
  }

  async submit(rows: Page): Promise<void> {
    this.#onPageResult(checkPage(this.#checks, rows))
  }

  async drain(): Promise<void> {}

  expectIndexes(): void {
    this.#checks.expectIndexes()
  }

  async submitIndexRows(table: IndexTable, rows: Page): Promise<void> {
    this.#onPageResult(addIndexPage(this.#checks, table, rows))
  }

  async differingBlocks(before: number): Promise<readonly number[]> {
    return this.#checks.differingBlocks(before)
  }

  async takeBalances(): Promise<BalanceSnapshot> {
    return this.#checks.takeBalances()
  }

  get last(): LastEvent {
    return this.#checks.last
  }

  async close(): Promise<void> {}
}
