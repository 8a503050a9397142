import { makeFolder, PRIVATE_FOLDER } from '../../config/files.ts'
import { type ClosingStep, STEPS_RUNNING } from '../../features/closings/closing.ts'
import type { Progress } from '../jobs/job-rows.ts'
import type { Jobs, Outer, Work } from '../jobs/jobs.ts'
import { threads } from '../jobs/threads.ts'
import { withReads } from '../reports/query-context.ts'
import { houseAccountsStep, openWithdrawalsStep, trialBalanceStep } from './balance-steps.ts'
import { checkDrawsStep, exceptionsStep, verifyStep } from './check-steps.ts'
import { checkpointStep, exportStep, writeManifest } from './export-steps.ts'
import { ensureFolderId, locationOf, monthFolder } from './files.ts'
import { ClosingRefused, type MonthBooks, readMonthBooks } from './month-books.ts'
import { MonthLock } from './month-lock.ts'
import type {
  ClosingParts,
  KnownBySteps,
  StepOptions,
  StepOutcome,
  StepState,
  StepTask,
  StepWork,
  WorkedStep,
} from './step.ts'
import { beginStep, endStep, readStep } from './step-rows.ts'

interface AskedSteps {
  readonly month: string
  /** In the order in which they run. */
  readonly steps: readonly ClosingStep[]
  readonly startedBy: string
}

/** What a command line does besides. */
interface Following extends Outer {
  readonly onStep?: (state: StepState) => void
  /** After the last step, while the month is locked still. */
  readonly finish?: (books: MonthBooks, failed: number) => Promise<void>
}

/**
 * Starts a job that runs steps of a month's closing, and resolves when the first of them runs; it answers how many failed.
 * The month is locked until its end, so that nothing is recorded in between. Throws `ClosingRefused` while others run, here or elsewhere, while the closing is being
 * recorded, and for a month that cannot be closed.
 */
export async function startSteps(
  parts: ClosingParts,
  { month, steps, startedBy }: AskedSteps,
  following: Following = {},
): Promise<{ readonly ended: Promise<number> }> {
  const { jobs, url, db, closingsFolder } = parts
  const lock = await MonthLock.forSteps(url, month)
  if (lock === null) throw new ClosingRefused(STEPS_RUNNING)
  try {
    const books = await readMonthBooks(db, month)
    if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
    const folder = monthFolder(closingsFolder, month)
    makeFolder(folder, PRIVATE_FOLDER)
    const { signal = lock.lost } = following
    const outer = { ...following, signal: AbortSignal.any([signal, lock.lost]) }
    const job = { kind: 'closing', subject: month, exclusive: closingOf(month), isAlone: true } as const
    const { promise: begun, resolve: onBegin } = Promise.withResolvers<void>()
    const work = runSteps({ ...parts, books, lock, folder, madeBy: startedBy }, steps, { ...following, onBegin })
    const running = await jobs.start({ ...job, startedBy, of: 0, input: steps }, work, outer)
    if (running === null) throw new ClosingRefused(STEPS_RUNNING)
    // After its row says how it ended: who has the lock next takes a job that still runs for one of a dead process.
    const ended = closeAfter(running.ended, lock)
    ended.catch(() => {})
    await Promise.race([begun, Promise.allSettled([ended])])
    return { ended }
  } catch (error) {
    await lock.close()
    throw error
  }
}

async function closeAfter<Result>(ended: Promise<Result>, lock: MonthLock): Promise<Result> {
  try {
    return await ended
  } finally {
    await lock.close()
  }
}

/** Jobs with the same one exclude each other: those of one month. */
const closingOf = (month: string): string => `closing ${month}`

/** A job that runs steps of a month. */
export interface StepsJob {
  readonly id: number
  readonly steps: readonly ClosingStep[]
  readonly startedBy: string
  /** Who asked for its end; null when nobody did. */
  readonly stoppedBy: string | null
}

/** The job that runs steps of a month now, on any instance; null for none. */
export async function findStepsJob(jobs: Jobs, month: string): Promise<StepsJob | null> {
  const row = await jobs.find({ exclusive: closingOf(month), isRunning: true })
  if (row === null) return null
  const { id, started_by: startedBy, stopped_by: stoppedBy } = row.job
  return { id, steps: JSON.parse(row.input), startedBy, stoppedBy }
}

const runSteps =
  (
    given: Omit<StepOptions, 'signal' | 'progress' | 'known'>,
    steps: readonly ClosingStep[],
    { onStep, onBegin, finish }: Following & { readonly onBegin: () => void },
  ): Work<number> =>
  async ({ id, check }, progress, signal) => {
    if (id === null) throw new Error('steps of a closing run by their row')
    const ended: StepState[] = []
    let known: KnownBySteps = {}
    for (const step of steps) {
      await check()
      progress({ events: 0, of: 0 })
      const outcome = await runStep(id, step, { ...given, known, signal, progress }, onBegin)
      known = { ...known, ...outcome.known }
      const state = await readStep(given.db, given.books.month, step)
      ended.push(state)
      onStep?.(state)
    }
    // The end may have been asked for when the last step was about to end.
    await check()
    const failed = ended.filter(({ state }) => state !== 'done').map(({ step }) => step)
    await finish?.(given.books, failed.length)
    const summary = failed.length === 0 ? `Done: ${steps.join(', ')}.` : `Failed: ${failed.join(', ')}.`
    return { result: failed.length, summary }
  }

/**
 * Runs a step: its state and its result are in the table of steps, its files in the folder; what reads many events runs in
 * a thread. It fails when it found what nobody acknowledged, or did not reach its end. Rejects with an Error when
 * the lock was lost: the row and the files may be another's then.
 */
async function runStep(
  job_id: number,
  step: ClosingStep,
  options: StepOptions,
  onBegin: () => void,
): Promise<Pick<StepOutcome, 'known'>> {
  const { db, books, folder, lock, signal } = options
  const { month, first, last } = books
  lock.lost.throwIfAborted()
  const run = { month, step, job_id, first, last, kept_in: locationOf(folder), folder_id: ensureFolderId(folder) }
  await beginStep(db, run)
  onBegin()
  const outcome = await work(step, options).catch((error: unknown) => ({
    known: {},
    error: signal.aborted ? 'it was stopped' : error instanceof Error ? error.message : String(error),
  }))
  lock.lost.throwIfAborted()
  await endStep(db, run, outcome)
  return outcome
}

async function work(step: ClosingStep, options: StepOptions): Promise<StepOutcome> {
  const { url, books, folder, sealsFolder, known, signal, progress } = options
  if (step === 'verify') return verifyStep(options)
  if (step === 'checkpoint') return checkpointStep(options)
  const { month, first, last } = books
  const outcome = await workInThread({ step, url, month, first, last, folder, sealsFolder, known }, signal, progress)
  if (step !== 'export') return outcome
  return { ...outcome, files: [...outcome.files, await writeManifest(outcome.files, options)] }
}

const works: Readonly<Record<WorkedStep, StepWork>> = {
  'trial-balance': trialBalanceStep,
  'house-accounts': houseAccountsStep,
  'open-withdrawals': openWithdrawalsStep,
  exceptions: exceptionsStep,
  export: exportStep,
  draws: checkDrawsStep,
}

interface WorkedTask extends StepTask {
  readonly step: WorkedStep
}

/** The thread calls it by its name. @public */
export const stepTask = (task: WorkedTask, signal: AbortSignal, progress: (progress: Progress) => void) =>
  withReads(task.url, signal, progress, (db, context) => works[task.step](task, db, context), {
    sealsFolder: task.sealsFolder,
  })

const workInThread = (
  task: WorkedTask,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
): Promise<StepOutcome> => threads.run(import.meta.url, stepTask, task, signal, progress)
