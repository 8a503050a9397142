import { Worker } from 'node:worker_threads'
import type { Page } from '../../../db/copy-out.ts'
import { GENESIS_HASH } from '../../../ledger/storage/event-hash.ts'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import type { BalanceSnapshot } from '../balance-checks.ts'
import type { LastEvent } from '../integrity-checks.ts'
import type { OnPageResult, RowVerifier } from './row-verifier.ts'
import type { RowVerifierMessage, RowVerifierTask } from './row-verifier-thread.ts'

/**
 * Pages that may wait for the thread: what it is behind at the end of the events, it does while tables are compared.
 * They are of a quarter of a megabyte.
 */
const MAX_PENDING_PAGES = 128

/** In a thread of its own, which has a processor to itself where there are two. */
export class WorkerRowVerifier implements RowVerifier {
  readonly #worker: Worker
  readonly #onChecked: OnPageResult
  readonly #signal: AbortSignal
  #pending = 0
  #last: LastEvent = { position: 0, hash: GENESIS_HASH, at: Number.NEGATIVE_INFINITY }
  #balances: BalanceSnapshot | undefined
  #failure: Error | undefined
  /** Whoever waits for the thread to get on, or to fail. */
  #wake: () => void = () => {}

  /** When `signal` is aborted nobody has to wait for the thread any more. */
  constructor(
    onChecked: OnPageResult,
    signal: AbortSignal,
    script = new URL('./row-verifier-thread.ts', import.meta.url),
  ) {
    this.#onChecked = onChecked
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    this.#worker = new Worker(script)
    this.#worker.on('message', (message: RowVerifierMessage) => {
      if ('taken' in message) {
        this.#balances = message.taken
      } else {
        this.#pending -= 1
        this.#last = message.checked.last
        this.#onChecked(message.checked)
      }
      this.#wake()
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('the thread that checks rows ended before it was done')))
  }

  async submit(rows: Page): Promise<void> {
    await this.#untilPending(MAX_PENDING_PAGES - 1)
    this.#pending += 1
    this.#post({ page: rows }, [rows.buffer])
  }

  async drain(): Promise<void> {
    await this.#untilPending(0)
  }

  expectCheckpoint(checkpoint: CheckpointHead): void {
    this.#post({ expect: checkpoint })
  }

  async takeBalances(): Promise<BalanceSnapshot> {
    this.#post('take balances')
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

  /** Waits until no more pages than that wait. */
  async #untilPending(most: number): Promise<void> {
    while (this.#pending > most && this.#failure === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  readonly #abort = (): void => {
    const { reason } = this.#signal
    this.#fail(reason instanceof Error ? reason : new Error('a reading was given up'))
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #post(task: RowVerifierTask, handed: ArrayBuffer[] = []): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    this.#worker.postMessage(task, handed)
  }
}
