import type { Page } from '../../../db/copy-out.ts'
import { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import type { Ending } from '../../checkpoint/checkpoint.ts'
import type { FoundAt } from '../../finding.ts'
import type { KeptBalances } from '../balance-checks.ts'
import { ChainChecks, type LastEvent } from '../integrity-checks.ts'

/** What was found on a page, and where the ledger stands at its end. */
export interface PageChecked {
  readonly found: readonly FoundAt[]
  readonly last: LastEvent
  /** Milliseconds that it took. */
  readonly took: number
}

/** `ChainChecks` page by page, here or in a thread. */
export interface ChainHalf {
  /**
   * Has the rows of a page checked, sooner or later, and takes the page away: whoever had it has it no more. Waits while
   * it is far behind. Rejects when it cannot go on.
   */
  page(rows: Page): Promise<void>
  /** Waits until all pages are checked. */
  settled(): Promise<void>
  expect(checkpoint: Ending): void
  /** `ChainChecks.takeBalances`, when all pages are checked. */
  takeBalances(): Promise<KeptBalances>
  /** Where the ledger stands after the pages that are checked. */
  readonly last: LastEvent
  close(): Promise<void>
}

/** Hears of every page that was checked, in their order. */
export type OnChecked = (checked: PageChecked) => void

/** Checks the rows of a page. */
export function checkPage(checks: ChainChecks, bytes: Buffer): PageChecked {
  const began = performance.now()
  for (const rows = new EventRowReader(bytes); rows.next(); ) checks.check(rows)
  return { found: checks.take(), last: checks.last, took: performance.now() - began }
}

/** In this thread, at once. */
export class ChainHere implements ChainHalf {
  readonly #checks = new ChainChecks()
  readonly #onChecked: OnChecked

  constructor(onChecked: OnChecked) {
    this.#onChecked = onChecked
  }

  async page(rows: Page): Promise<void> {
    // What it takes is of the time of whoever calls.
    this.#onChecked({ ...checkPage(this.#checks, rows), took: 0 })
  }

  async settled(): Promise<void> {}

  expect(checkpoint: Ending): void {
    this.#checks.expect(checkpoint)
  }

  async takeBalances(): Promise<KeptBalances> {
    return this.#checks.takeBalances()
  }

  get last(): LastEvent {
    return this.#checks.last
  }

  async close(): Promise<void> {}
}
