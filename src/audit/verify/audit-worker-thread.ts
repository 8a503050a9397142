import { parentPort, workerData } from 'node:worker_threads'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { CheckpointHead } from '../checkpoint/checkpoint.ts'
import type { Progress } from '../ledger-scan.ts'
import { lowerThreadPriority } from '../priority/thread-priority.ts'
import { foldTrialBalance, type TrialBalance } from '../reports/trial-balance.ts'
import { type Verification, verify } from './verify.ts'

// The thread of an `AuditWorker` call: runs one task and ends.

export type AuditTask = { readonly url: string } & (
  | { readonly type: 'verify'; readonly asOf: number | null; readonly checkpoint: CheckpointHead | null }
  | { readonly type: 'fold-trial-balance'; readonly position: number }
)

export type AuditWorkerMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'verification'; readonly verification: Verification }
  | { readonly type: 'trial-balance'; readonly trialBalance: TrialBalance }

/** Nice level: requests go first when processors are busy. */
const NICE = 10

// Never aborted: the service terminates the thread instead.
const { signal } = new AbortController()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: AuditWorkerMessage): void => parentPort?.postMessage(message)

async function run(task: AuditTask): Promise<void> {
  if (task.type === 'verify') {
    const options = {
      asOf: task.asOf,
      checkpoint: task.checkpoint,
      signal,
      progress: (progress: Progress) => post({ type: 'progress', progress }),
    }
    post({ type: 'verification', verification: await verify(task.url, options) })
    return
  }
  const pool = openPool(task.url, { max: 2, application_name: 'audit worker' })
  const db = queryBuilder(pool)
  try {
    const context = { signal, onPlanned: () => {}, onScanned: () => {} }
    post({ type: 'trial-balance', trialBalance: await foldTrialBalance(db, task.position, context) })
  } finally {
    await db.destroy()
  }
}

lowerThreadPriority((nice) => Math.max(nice, NICE))
await run(workerData)
