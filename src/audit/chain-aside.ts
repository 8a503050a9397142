import { Worker } from 'node:worker_threads'
import { GENESIS } from '../ledger/chain.ts'
import type { LastEvent } from './chain-checks.ts'
import type { ChainHalf, OnChecked, PageChecked } from './chain-half.ts'
import type { ChainTask } from './chain-thread.ts'
import type { Ending } from './checkpoint.ts'

/** Pages that may wait for the thread: enough that it never waits itself, and a few megabytes. */
const MOST_WAITING = 16

/** In a thread of its own, which has a processor to itself where there are two. It has the priority of this one. */
export class ChainAside implements ChainHalf {
  readonly #worker: Worker
  readonly #onChecked: OnChecked
  #waiting = 0
  #last: LastEvent = { position: 0, hash: GENESIS, at: Number.NEGATIVE_INFINITY }
  #failure: Error | undefined
  /** Whoever waits for the thread to get on, or to fail. */
  #wake: () => void = () => {}

  constructor(onChecked: OnChecked, script = new URL('./chain-thread.ts', import.meta.url)) {
    this.#onChecked = onChecked
    this.#worker = new Worker(script)
    this.#worker.on('message', (checked: PageChecked) => {
      this.#waiting -= 1
      this.#last = checked.last
      this.#onChecked(checked)
      this.#wake()
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('the thread that checks hashes ended before it was done')))
  }

  async page(rows: Buffer): Promise<void> {
    await this.#until(MOST_WAITING - 1)
    this.#waiting += 1
    this.#tell({ page: rows })
  }

  async settled(): Promise<void> {
    await this.#until(0)
  }

  expect(checkpoint: Ending): void {
    this.#tell({ expect: checkpoint })
  }

  get last(): LastEvent {
    return this.#last
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Waits until no more pages than that wait. */
  async #until(most: number): Promise<void> {
    while (this.#waiting > most && this.#failure === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #tell(task: ChainTask): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    this.#worker.postMessage(task)
  }
}
