import { parentPort, workerData } from 'node:worker_threads'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { StepOutcome, StepTask, WorkedStep } from '../closings/step-task.ts'
import { workOf } from '../closings/step-work.ts'
import type { Progress } from '../ledger-scan.ts'
import { lowerThreadPriority } from '../priority/thread-priority.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { foldTrialBalance, type TrialBalance } from '../reports/trial-balance.ts'
import { type Verification, type VerifyTarget, verify } from './verify.ts'

// The thread of an `AuditWorker` call: runs one task and ends.

export type AuditTask = { readonly url: string } & (
  | ({ readonly type: 'verify' } & VerifyTarget)
  | { readonly type: 'fold-trial-balance'; readonly position: number }
  | ({ readonly type: 'closing-step'; readonly step: WorkedStep } & StepTask)
)

export type AuditWorkerMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'verification'; readonly verification: Verification }
  | { readonly type: 'step-outcome'; readonly outcome: StepOutcome }
  | { readonly type: 'trial-balance'; readonly trialBalance: TrialBalance }

/** Nice level: requests go first when processors are busy. */
const NICE = 10

// Never aborted: the service terminates the thread instead.
const { signal } = new AbortController()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: AuditWorkerMessage): void => parentPort?.postMessage(message)

function contextWithProgress(): QueryContext {
  let of = 0
  let events = 0
  return {
    signal,
    onPlanned: (more) => void (of += more),
    onScanned: (more) => post({ type: 'progress', progress: { events: (events += more), of } }),
  }
}

async function run(task: AuditTask): Promise<void> {
  if (task.type === 'verify') {
    const progress = (made: Progress): void => post({ type: 'progress', progress: made })
    post({ type: 'verification', verification: await verify(task.url, { ...task, signal, progress }) })
    return
  }
  const pool = openPool(task.url, { max: 2, application_name: 'audit worker' })
  const db = queryBuilder(pool)
  try {
    if (task.type === 'closing-step') {
      post({ type: 'step-outcome', outcome: await workOf(task.step)(task, db, contextWithProgress()) })
      return
    }
    post({ type: 'trial-balance', trialBalance: await foldTrialBalance(db, task.position, contextWithProgress()) })
  } finally {
    await db.destroy()
  }
}

lowerThreadPriority((nice) => Math.max(nice, NICE))
await run(workerData)
