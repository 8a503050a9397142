import { Worker } from 'node:worker_threads'
import type { KeptBalances } from '../../ledger/replay/replay.ts'
import type { Page } from '../../ledger/storage/copy-rows.ts'
import { GENESIS_HASH } from '../../ledger/storage/event-hash.ts'
import { addIndexPages, checkPage, IntegrityChecks, type LastEvent, type PageResult } from './integrity-checks.ts'
import type { LinesDigest } from './line-digests.ts'
import type { RowVerifierMessage, RowVerifierTask } from './row-verifier-thread.ts'

/** Runs the integrity checks page by page, inline or in a worker. */
export interface RowVerifier {
  /** `IntegrityChecks.begin`; call it before anything else. After `drain` the file of balances is open. */
  begin(last: LastEvent, balances: string | null): void
  /**
   * Queues a page to be checked, and waits while too many are queued. The page must not be used afterwards: its memory
   * may have been transferred to the worker. Rejects when the worker failed.
   */
  submit(rows: Page): Promise<void>
  /** Waits until all pages are checked. */
  drain(): Promise<void>
  /** `IntegrityChecks.expectIndex`; call it before the first page. */
  expectIndex(): void
  /** As `submit`, with pages of the index, for `IntegrityChecks.addIndexPages`. */
  submitIndexPages(pages: Page, after: number): Promise<void>
  /** `IntegrityChecks.differingBlocks`, once all pages are checked. */
  differingBlocks(before: number): Promise<readonly number[]>
  /** `IntegrityChecks.balancesDigest`, once all pages are checked. */
  balancesDigest(path: string | null): Promise<LinesDigest>
  /** `IntegrityChecks.takeBalances`, once all pages are checked. */
  takeBalances(): Promise<KeptBalances>
  /** The last event of the pages checked so far. */
  readonly last: LastEvent
  close(): Promise<void>
}

/** Called for every page, in order. */
export type OnPageResult = (result: PageResult) => void

/** Checks each page at once in the calling thread. */
export class InlineRowVerifier implements RowVerifier {
  readonly #checks = new IntegrityChecks()
  readonly #onPageResult: OnPageResult

  constructor(onPageResult: OnPageResult) {
    this.#onPageResult = onPageResult
  }

  begin(last: LastEvent, balances: string | null): void {
    this.#checks.begin(last, balances)
  }

  async submit(rows: Page): Promise<void> {
    this.#onPageResult(checkPage(this.#checks, rows))
  }

  async drain(): Promise<void> {}

  expectIndex(): void {
    this.#checks.expectIndex()
  }

  async submitIndexPages(pages: Page, after: number): Promise<void> {
    this.#onPageResult(addIndexPages(this.#checks, pages, after))
  }

  async differingBlocks(before: number): Promise<readonly number[]> {
    return this.#checks.differingBlocks(before)
  }

  async balancesDigest(path: string | null): Promise<LinesDigest> {
    return this.#checks.balancesDigest(path)
  }

  async takeBalances(): Promise<KeptBalances> {
    return this.#checks.takeBalances()
  }

  get last(): LastEvent {
    return this.#checks.last
  }

  async close(): Promise<void> {}
}

/** Pages of 256 kB. Those that are still queued after the last event are checked while tables are compared. */
const MAX_PENDING_PAGES = 128

/** Checks pages in a worker thread, on a second processor if there is one. */
export class WorkerRowVerifier implements RowVerifier {
  readonly #worker: Worker
  readonly #onPageResult: OnPageResult
  readonly #signal: AbortSignal
  #pending = 0
  #last: LastEvent = { position: 0, hash: GENESIS_HASH, at: Number.NEGATIVE_INFINITY }
  #balances: KeptBalances | undefined
  #balancesDigest: LinesDigest | undefined
  #differingBlocks: readonly number[] | undefined
  #failure: Error | undefined
  /** Resumes the caller that waits for progress or failure of the worker. */
  #wake: () => void = () => {}

  /** Callers stop waiting for the worker when `signal` is aborted. */
  constructor(
    onPageResult: OnPageResult,
    signal: AbortSignal,
    script = new URL('./row-verifier-thread.ts', import.meta.url),
  ) {
    this.#onPageResult = onPageResult
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    this.#worker = new Worker(script)
    this.#worker.on('message', (message: RowVerifierMessage) => {
      if (message.type === 'balances') {
        this.#balances = message.balances
      } else if (message.type === 'balances-digest') {
        this.#balancesDigest = message.digest
      } else if (message.type === 'differing-blocks') {
        this.#differingBlocks = message.bases
      } else {
        this.#pending -= 1
        this.#last = message.result.last
        this.#onPageResult(message.result)
      }
      this.#wake()
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('the row verifier thread ended before it was done')))
  }

  begin(last: LastEvent, balances: string | null): void {
    this.#pending += 1
    this.#post({ type: 'begin', last, balances })
  }

  async submit(rows: Page): Promise<void> {
    await this.#submit({ type: 'page', page: rows }, rows)
  }

  async submitIndexPages(pages: Page, after: number): Promise<void> {
    await this.#submit({ type: 'index-pages', pages, after }, pages)
  }

  async drain(): Promise<void> {
    await this.#untilPending(0)
  }

  expectIndex(): void {
    this.#post({ type: 'expect-index' })
  }

  async differingBlocks(before: number): Promise<readonly number[]> {
    this.#differingBlocks = undefined
    this.#post({ type: 'find-differing-blocks', before })
    return this.#untilAnswered(() => this.#differingBlocks)
  }

  async balancesDigest(path: string | null): Promise<LinesDigest> {
    this.#balancesDigest = undefined
    this.#post({ type: 'digest-balances', path })
    return this.#untilAnswered(() => this.#balancesDigest)
  }

  async takeBalances(): Promise<KeptBalances> {
    this.#post({ type: 'take-balances' })
    return this.#untilAnswered(() => this.#balances)
  }

  get last(): LastEvent {
    return this.#last
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#worker.terminate()
  }

  async #submit(task: RowVerifierTask, { buffer }: Page): Promise<void> {
    await this.#untilPending(MAX_PENDING_PAGES - 1)
    this.#pending += 1
    this.#post(task, [buffer])
  }

  async #untilAnswered<Answer>(answer: () => Answer | undefined): Promise<Answer> {
    for (;;) {
      await this.#untilPending(0)
      const answered = answer()
      if (answered !== undefined) return answered
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async #untilPending(max: number): Promise<void> {
    while (this.#pending > max && this.#failure === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  readonly #abort = (): void => {
    const { reason } = this.#signal
    this.#fail(reason instanceof Error ? reason : new Error('the ledger scan was aborted'))
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #post(task: RowVerifierTask, transfer: ArrayBuffer[] = []): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    this.#worker.postMessage(task, transfer)
  }
}
