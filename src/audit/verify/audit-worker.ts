import { Worker } from 'node:worker_threads'
import type { Progress } from '../ledger-scan.ts'
import type { TrialBalance } from '../reports/trial-balance.ts'
import type { AuditTask, AuditWorkerMessage } from './audit-worker-thread.ts'
import type { Verification } from './verify.ts'

/** Readings of the whole ledger from inside the service, in threads of their own: nobody's request waits for them. */
export interface AuditWorker {
  /** Verifies the books, up to a position or whole. */
  verify(asOf: number | null, signal: AbortSignal, progress: (progress: Progress) => void): Promise<Verification>
  /** The trial balance as of a position. */
  trialBalanceAt(position: number, signal: AbortSignal): Promise<TrialBalance>
}

/** On the database at `url`. */
export const createAuditWorker = (url: string): AuditWorker => ({
  verify: async (asOf, signal, progress) => {
    const done = await runInWorker({ url, task: 'verify', asOf }, signal, progress)
    if (!('verified' in done)) throw new Error('a verification ended without a result')
    return done.verified
  },
  trialBalanceAt: async (position, signal) => {
    const done = await runInWorker({ url, task: 'trial balance', position }, signal, () => {})
    if (!('balance' in done)) throw new Error('a trial balance ended without a result')
    return done.balance
  },
})

/** The last message of the task. Rejects with what it threw; the thread ends when `signal` is aborted. */
function runInWorker(
  task: AuditTask,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
): Promise<AuditWorkerMessage> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./audit-worker-thread.ts', import.meta.url), { workerData: task })
    const abort = (): void => {
      void worker.terminate()
      reject(signal.reason instanceof Error ? signal.reason : new Error('a reading was given up'))
    }
    signal.addEventListener('abort', abort, { once: true })
    worker.on('message', (message: AuditWorkerMessage) => {
      if ('progress' in message) progress(message.progress)
      else resolve(message)
    })
    worker.on('error', reject)
    worker.on('exit', () => {
      signal.removeEventListener('abort', abort)
      reject(new Error('a reading ended before it was done'))
    })
  })
}
