import { makeFolder } from '../../config/make-folder.ts'
import type { ClosingStep } from '../../features/closings/closing-steps.ts'
import type { Progress } from '../ledger-scan.ts'
import { auditWorker } from '../verify/audit-worker.ts'
import { ClosingRefused } from './closing-refused.ts'
import { readStep, type StepState, type StoredState, writeStep } from './step-state.ts'
import type { StepOptions, StepOutcome } from './step-task.ts'
import { checkpointStep } from './steps/checkpoint-step.ts'
import { verifyStep } from './steps/verify-step.ts'
import { writeManifest } from './write-manifest.ts'

/** How often a running step writes how far it is. */
const HEARTBEAT_MS = 1_000

/**
 * Runs a step of a month's closing and keeps its state, its result and its files in the folder; what reads many events
 * runs in the audit worker. Answers `failed` when it found something or did not reach its end. A state `running` that is
 * found is of a process that died, as the lock is held here. Throws `ClosingRefused` when the month is closed or cannot
 * be, and an Error when the lock was lost: whatever is in the folder then is another's.
 */
export async function runClosingStep(step: ClosingStep, given: StepOptions): Promise<StepState> {
  const { books, folder, madeBy, lock, progress: onProgress } = given
  if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
  const options = { ...given, signal: AbortSignal.any([given.signal, lock.lost]) }
  makeFolder(folder)
  const { first, last } = books
  let state: StoredState = {
    state: 'running',
    made_by: madeBy,
    started_at: now(),
    heartbeat_at: now(),
    first,
    last,
    progress: null,
    result: null,
    files: [],
    error: null,
  }
  const save = (change: Partial<StoredState>): void => {
    lock.lost.throwIfAborted()
    state = { ...state, ...change, heartbeat_at: now() }
    writeStep(folder, step, state)
  }
  save({})
  let latest: Progress | null = null
  const heartbeat = setInterval(() => {
    if (!lock.lost.aborted) save({ progress: latest })
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
  if (outcome === undefined) save({ state: 'failed', error: messageOf(failure, given.signal) })
  else
    save({
      state: outcome.passed ? 'done' : 'failed',
      progress: null,
      result: outcome.result,
      files: [...outcome.files],
    })
  return readStep(folder, step)
}

const messageOf = (error: unknown, signal: AbortSignal): string =>
  signal.aborted ? 'it was stopped' : error instanceof Error ? error.message : String(error)

const now = (): string => new Date().toISOString()

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
