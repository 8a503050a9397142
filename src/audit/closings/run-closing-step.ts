import { makeFolder, PRIVATE_FOLDER } from '../../config/make-folder.ts'
import type { ClosingStep } from '../../features/closings/closing-steps.ts'
import type { Progress } from '../ledger-scan.ts'
import { auditWorker } from '../verify/audit-worker.ts'
import { ClosingRefused } from './closing-refused.ts'
import { ensureFolderId, locationOf } from './folder.ts'
import { beginStep, endStep, readStep, recordStepProgress } from './step-rows.ts'
import type { StepState } from './step-state.ts'
import type { StepOptions, StepOutcome } from './step-task.ts'
import { checkpointStep } from './steps/checkpoint-step.ts'
import { verifyStep } from './steps/verify-step.ts'
import { writeManifest } from './steps/write-manifest.ts'

/** How often a running step writes how far it is, and looks whether it is to stop. */
const HEARTBEAT_MS = 1_000

/** A step whose row says that it runs. */
export interface RunningStep {
  readonly runId: string
  /** Rejects with an Error when the lock was lost: the row and the files may be another's then. */
  readonly ended: Promise<StepState>
}

/**
 * Begins a step of a month's closing, which `queued` follow, after `previous` of the same run of steps. Its state and its result are in the table of steps, its files
 * in the folder; what reads many events runs in the audit worker. It ends as `failed` when it found what nobody acknowledged
 * or did not reach its end. A state `running` that is found is of a process that died, as the lock is held here. Throws
 * `ClosingRefused` when the month is closed or cannot be, and `StoppedBy` when the end was asked for since `previous` ended.
 */
export async function beginClosingStep(
  step: ClosingStep,
  given: StepOptions,
  queued: readonly ClosingStep[],
  previous: RunningStep | null,
): Promise<RunningStep> {
  const { db, books, folder, madeBy } = given
  const { month, first, last } = books
  if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
  makeFolder(folder, PRIVATE_FOLDER)
  given.lock.lost.throwIfAborted()
  const kept = { kept_in: locationOf(folder), folder_id: ensureFolderId(folder) }
  const row = { month, step, made_by: madeBy, first, last, queued, ...kept }
  const runId = await beginStep(db, row, previous?.runId ?? null)
  return { runId, ended: run(runId, step, given) }
}

async function run(id: string, step: ClosingStep, given: StepOptions): Promise<StepState> {
  const { db, books, lock, log, onStop, progress: onProgress } = given
  const options = { ...given, signal: AbortSignal.any([given.signal, lock.lost]) }
  let latest: Progress | null = null
  const beat = async (): Promise<void> => {
    if (lock.lost.aborted) return
    const stoppedBy = await recordStepProgress(db, id, latest)
    if (stoppedBy !== null) onStop(stoppedBy)
  }
  const heartbeat = setInterval(() => {
    beat().catch((err: unknown) => log.warn({ err, step }, 'the progress of a closing step was not stored'))
  }, HEARTBEAT_MS)
  const progress = (made: Progress): void => {
    latest = made
    onProgress?.(made)
  }
  let outcome: StepOutcome | undefined
  let failure: unknown
  try {
    outcome = await work(step, options, progress)
  } catch (error) {
    failure = error
  } finally {
    clearInterval(heartbeat)
  }
  lock.lost.throwIfAborted()
  const stoppedBy = await endStep(
    db,
    id,
    outcome === undefined
      ? { state: 'failed', result: null, files: [], error: messageOf(failure, given.signal) }
      : { ...outcome, state: outcome.passed ? 'done' : 'failed', error: null },
  )
  if (stoppedBy !== null) onStop(stoppedBy)
  return readStep(db, books.month, step)
}

const messageOf = (error: unknown, signal: AbortSignal): string =>
  signal.aborted ? 'it was stopped' : error instanceof Error ? error.message : String(error)

async function work(
  step: ClosingStep,
  options: StepOptions,
  progress: (progress: Progress) => void,
): Promise<StepOutcome> {
  const { url, books, folder, signal } = options
  if (step === 'verify') return verifyStep(options, progress)
  if (step === 'checkpoint') return checkpointStep(options)
  const { month, first, last } = books
  const outcome = await auditWorker.closingStep(step, { url, month, first, last, folder }, signal, progress)
  if (step !== 'export') return outcome
  return { ...outcome, files: [...outcome.files, await writeManifest(outcome.files, options)] }
}
