import type { Kysely } from 'kysely'
import type { Log } from '../../db/log.ts'
import type { Tables } from '../../db/tables.ts'
import { type ClosingStep, STEPS_RUNNING } from '../../features/closings/closing-steps.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { StoppedBy } from '../runs/run-verification.ts'
import { ClosingRefused } from './closing-refused.ts'
import { monthFolder } from './folder.ts'
import { readMonthBooks } from './month-books.ts'
import { MonthLock } from './month-lock.ts'
import { beginClosingStep, type RunningStep } from './run-closing-step.ts'
import { requestStepStop } from './step-rows.ts'
import type { StepOptions } from './step-task.ts'

export interface RunningStepsOptions {
  /** The primary. */
  readonly db: Kysely<Tables>
  readonly signer: CheckpointSigner
  /** Decrypts the records of the vault. */
  readonly piiKey: string
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
  /** Until the row of the first step says that it runs, or it is refused. */
  started: Promise<void>
  done: Promise<void>
}

/**
 * Steps of closings that this instance runs in the background, one at a time, as each reads much of the ledger. Where they
 * stand is in a table, so that any instance shows and stops them.
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

  /**
   * Ends the steps of a month, for `staff:ann`: those that run here at once, and true; those of another instance about a
   * second later, and false.
   */
  async stop(month: string, stoppedBy: string): Promise<boolean> {
    await requestStepStop(this.#options.db, month, stoppedBy)
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
    const { db, signer, piiKey, closingsFolder, log } = this.#options
    const { month, abort } = own
    let lock: MonthLock | null = null
    try {
      lock = await MonthLock.forSteps(url, month)
      if (lock === null) throw new ClosingRefused(STEPS_RUNNING)
      const books = await readMonthBooks(db, month)
      if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
      const options: StepOptions = {
        url,
        db,
        books,
        lock,
        folder: monthFolder(closingsFolder, month),
        signer,
        piiKey,
        madeBy,
        signal: abort.signal,
        onStop: (stoppedBy) => abort.abort(new StoppedBy(stoppedBy)),
        log,
      }
      own.done = this.#run(own, options, lock, await beginNext(own, options, null))
    } catch (error) {
      this.#running = undefined
      await lock?.close()
      throw error
    }
  }

  /** The lock is held until the last step has ended, so that nothing is recorded in between. */
  async #run(own: Running, options: StepOptions, lock: MonthLock, first: RunningStep | null): Promise<void> {
    try {
      for (let step = first; step !== null; step = await beginNext(own, options, step)) {
        await step.ended
        own.steps.shift()
      }
    } catch (err) {
      if (!(err instanceof StoppedBy)) {
        options.log.warn({ err, month: own.month }, 'steps of a closing ended before they were done')
      }
    } finally {
      this.#running = undefined
      await lock.close()
    }
  }
}

/** Null when no step is left, or somebody asked for the end. */
async function beginNext(
  { steps, abort }: Running,
  options: StepOptions,
  previous: RunningStep | null,
): Promise<RunningStep | null> {
  const [step, ...queued] = steps
  return step === undefined || abort.signal.aborted ? null : beginClosingStep(step, options, queued, previous)
}
