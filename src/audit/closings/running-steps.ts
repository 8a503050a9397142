import type { Kysely } from 'kysely'
import type { Log } from '../../db/log.ts'
import type { Tables } from '../../db/tables.ts'
import { type ClosingStep, STEPS_RUNNING } from '../../features/closings/closing-steps.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { StoppedBy } from '../runs/run-verification.ts'
import { ClosingRefused } from './closing-refused.ts'
import { monthFolder } from './folder.ts'
import { type MonthBooks, readMonthBooks } from './month-books.ts'
import { MonthLock } from './month-lock.ts'
import { runClosingStep } from './run-closing-step.ts'

export interface RunningStepsOptions {
  /** The primary. */
  readonly db: Kysely<Tables>
  readonly signer: CheckpointSigner
  readonly closingsFolder: string
  readonly log: Log
}

/** Steps of a month that run here one after the other; the first of `steps` is running. */
export interface StepsRun {
  readonly month: string
  readonly steps: readonly ClosingStep[]
}

interface Running {
  readonly month: string
  readonly steps: ClosingStep[]
  readonly abort: AbortController
  /** Until the first step begins, or is refused. */
  started: Promise<void>
  done: Promise<void>
}

/**
 * Steps of closings that this instance runs in the background, one at a time, as each reads much of the ledger. Where they
 * stand is in the folder of their month.
 */
export class RunningSteps {
  readonly #options: RunningStepsOptions
  #running: Running | undefined
  #isClosed = false

  constructor(options: RunningStepsOptions) {
    this.#options = options
  }

  /**
   * Starts steps of a month in this order; `url` is that of the primary, `madeBy` is `staff:ann`. Steps that were started
   * here already are not started again. Throws `ClosingRefused` while others run, here or elsewhere, while the closing is
   * being recorded, and for a month that cannot be closed.
   */
  start(month: string, steps: readonly ClosingStep[], url: string, madeBy: string): Promise<void> {
    const running = this.#running
    if (running?.month === month && steps.every((step) => running.steps.includes(step))) return running.started
    if (running !== undefined) return Promise.reject(new ClosingRefused(STEPS_RUNNING))
    const abort = new AbortController()
    if (this.#isClosed) abort.abort()
    const own: Running = { month, steps: [...steps], abort, started: Promise.resolve(), done: Promise.resolve() }
    this.#running = own
    own.started = this.#start(own, url, madeBy)
    return own.started
  }

  /** What runs here; null for nothing. */
  get current(): StepsRun | null {
    return this.#running ?? null
  }

  /** Ends the steps of a month that run here, for `staff:ann`, and waits for that. False when there are none. */
  async stop(month: string, stoppedBy: string): Promise<boolean> {
    if (this.#running?.month !== month) return false
    await this.#end(new StoppedBy(stoppedBy))
    return true
  }

  /** Ends whatever runs, and waits for that. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
  }

  async #end(reason?: StoppedBy): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    running.abort.abort(reason)
    // Its refusal is told to whoever started it.
    await running.started.catch(() => {})
    await running.done
  }

  async #start(own: Running, url: string, madeBy: string): Promise<void> {
    const { db } = this.#options
    const { month } = own
    let lock: MonthLock | null = null
    try {
      lock = await MonthLock.forSteps(url, month)
      if (lock === null) throw new ClosingRefused(STEPS_RUNNING)
      const books = await readMonthBooks(db, month)
      if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
      own.done = this.#run(own, lock, books, url, madeBy)
    } catch (error) {
      this.#running = undefined
      await lock?.close()
      throw error
    }
  }

  /** The lock is held until the last step has ended, so that nothing is recorded in between. */
  async #run(
    { month, steps, abort }: Running,
    lock: MonthLock,
    books: MonthBooks,
    url: string,
    madeBy: string,
  ): Promise<void> {
    const { db, signer, closingsFolder, log } = this.#options
    const { signal } = abort
    const options = { url, db, books, lock, folder: monthFolder(closingsFolder, month), signer, madeBy, signal, log }
    try {
      for (let step = steps[0]; step !== undefined && !signal.aborted; step = steps[0]) {
        await runClosingStep(step, options)
        steps.shift()
      }
    } catch (err) {
      log.warn({ err, month }, 'steps of a closing ended before they were done')
    } finally {
      this.#running = undefined
      await lock.close()
    }
  }
}
