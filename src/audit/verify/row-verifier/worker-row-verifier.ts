import { Worker } from 'node:worker_threads'
import type { Page } from '../../../db/copy-out.ts'
import { GENESIS_HASH } from '../../../ledger/storage/event-hash.ts'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import type { BalanceSnapshot } from '../balances/balance-checks.ts'
import type { LastEvent } from '../integrity-checks.ts'
import type { OnPageResult, RowVerifier } from './row-verifier.ts'
import type { RowVerifierMessage, RowVerifierTask } from './row-verifier-thread.ts'

/** Pages of 256 kB. Those that are still queued after the last event are checked while tables are compared. */
const MAX_PENDING_PAGES = 128

/** Checks pages in a worker thread, on a second processor if there is one. */
export class WorkerRowVerifier implements RowVerifier {
  readonly #worker: Worker
  readonly #onPageResult: OnPageResult
  readonly #signal: AbortSignal
  #pending = 0
  #last: LastEvent = { position: 0, hash: GENESIS_HASH, at: Number.NEGATIVE_INFINITY }
  #balances: BalanceSnapshot | undefined
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

  async submit(rows: Page): Promise<void> {
    await this.#untilPending(MAX_PENDING_PAGES - 1)
    this.#pending += 1
    this.#post({ type: 'page', page: rows }, [rows.buffer])
  }

  async drain(): Promise<void> {
    await this.#untilPending(0)
  }

  expectCheckpoint(checkpoint: CheckpointHead): void {
    this.#post({ type: 'expect-checkpoint', checkpoint })
  }

  async takeBalances(): Promise<BalanceSnapshot> {
    this.#post({ type: 'take-balances' })
    for (;;) {
      await this.#untilPending(0)
      if (this.#balances !== undefined) return this.#balances
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  get last(): LastEvent {
    return this.#last
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#worker.terminate()
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
