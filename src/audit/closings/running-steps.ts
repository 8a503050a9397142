import type { Kysely } from 'kysely'
import type { Log } from '../../db/log.ts'
import type { Tables } from '../../db/tables.ts'
import type { ClosingStep } from '../../features/closings/books.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { monthFolder } from './folder.ts'
import type { MonthBooks } from './month-books.ts'
import { runClosingStep, StepRuns } from './run-closing-step.ts'
import { readStep } from './step-state.ts'

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
   * already are not started again; throws `StepRuns` while others run.
   */
  start(books: MonthBooks, steps: readonly ClosingStep[], url: string, madeBy: string): void {
    const { month } = books
    const running = this.#running
    if (running !== undefined) {
      if (running.month === month && steps.every((step) => running.steps.includes(step))) return
      throw new StepRuns('another step is running')
    }
    const folder = monthFolder(this.#options.closingsFolder, month)
    if (steps.some((step) => readStep(folder, step).state === 'running')) throw new StepRuns('it runs elsewhere')
    const abort = new AbortController()
    if (this.#isClosed) abort.abort()
    const started: Running = { month, steps: [...steps], abort, done: Promise.resolve() }
    this.#running = started
    started.done = this.#run(started, books, url, madeBy)
  }

  /** What runs here; null for nothing. */
  get current(): StepsRun | null {
    return this.#running ?? null
  }

  /** Ends the steps of a month that run here, and waits for that. */
  async stop(month: string): Promise<void> {
    const running = this.#running
    if (running?.month !== month) return
    running.abort.abort()
    await running.done
  }

  /** Ends whatever runs, and waits for that. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#running?.abort.abort()
    await this.#running?.done
  }

  async #run({ month, steps, abort }: Running, books: MonthBooks, url: string, madeBy: string): Promise<void> {
    const { db, signer, closingsFolder, log } = this.#options
    const { signal } = abort
    const options = { url, db, books, folder: monthFolder(closingsFolder, month), signer, madeBy, signal }
    try {
      for (let step = steps[0]; step !== undefined && !signal.aborted; step = steps[0]) {
        await runClosingStep(step, options)
        steps.shift()
      }
    } catch (err) {
      log.warn({ err, month }, 'a step of a closing was not run')
    } finally {
      this.#running = undefined
    }
  }
}
