import { Worker } from 'node:worker_threads'
import type { StepOutcome, StepTask, WorkedStep } from '../closings/step-task.ts'
import type { Progress } from '../ledger-scan.ts'
import type { TrialBalance } from '../reports/trial-balance.ts'
import type { AuditTask, AuditWorkerMessage } from './audit-worker-thread.ts'
import type { Verification, VerifyTarget } from './verify.ts'

/** Reads the whole ledger for a running service, each time in a thread of its own, so that no request waits for it. */
export const auditWorker = {
  async verify(
    url: string,
    target: VerifyTarget,
    signal: AbortSignal,
    progress: (progress: Progress) => void,
  ): Promise<Verification> {
    const done = await runInWorker({ url, type: 'verify', ...target }, signal, progress)
    if (done.type !== 'verification') throw new Error('a verification ended without a result')
    return done.verification
  },
  /** A step of a month's closing. */
  async closingStep(
    step: WorkedStep,
    task: StepTask,
    signal: AbortSignal,
    progress: (progress: Progress) => void,
  ): Promise<StepOutcome> {
    const done = await runInWorker({ ...task, type: 'closing-step', step }, signal, progress)
    if (done.type !== 'step-outcome') throw new Error('a step of a closing ended without a result')
    return done.outcome
  },
  /** The trial balance as of a position. */
  async trialBalanceAt(
    url: string,
    position: number,
    signal: AbortSignal,
    progress: (progress: Progress) => void = () => {},
  ): Promise<TrialBalance> {
    const done = await runInWorker({ url, type: 'fold-trial-balance', position }, signal, progress)
    if (done.type !== 'trial-balance') throw new Error('a trial balance ended without a result')
    return done.trialBalance
  },
}

/**
 * Answers the result of the task, or rejects with what it threw. Terminates the thread when `signal` is aborted, and
 * rejects once it has ended, as until then it may still write files.
 */
function runInWorker(
  task: AuditTask,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
): Promise<AuditWorkerMessage> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./audit-worker-thread.ts', import.meta.url), { workerData: task })
    const abort = (): void => {
      const reason = signal.reason instanceof Error ? signal.reason : new Error('the audit task was aborted')
      void worker.terminate().finally(() => reject(reason))
    }
    signal.addEventListener('abort', abort, { once: true })
    worker.on('message', (message: AuditWorkerMessage) => {
      if (message.type === 'progress') progress(message.progress)
      else resolve(message)
    })
    worker.on('error', reject)
    worker.on('exit', () => {
      signal.removeEventListener('abort', abort)
      if (!signal.aborted) reject(new Error('the audit worker ended before it was done'))
    })
  })
}
