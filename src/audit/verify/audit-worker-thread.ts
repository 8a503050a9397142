import { parentPort, workerData } from 'node:worker_threads'
import { Kysely, PostgresDialect } from 'kysely'
import { openPool } from '../../db/pool.ts'
import type { Tables } from '../../db/tables.ts'
import type { Progress } from '../ledger-scan.ts'
import { foldTrialBalance, type TrialBalance } from '../reports/trial-balance.ts'
import { lowerThreadPriority } from '../thread-priority.ts'
import { type Verification, verify } from './verify.ts'

// The thread of `aside.ts`: does one task and ends.

export type AuditTask = { readonly url: string } & (
  | { readonly task: 'verify'; readonly asOf: number | null }
  | { readonly task: 'trial balance'; readonly position: number }
)

export type AuditWorkerMessage =
  | { readonly progress: Progress }
  | { readonly verified: Verification }
  | { readonly balance: TrialBalance }

/** Where processors are short, requests go first. */
const NICE = 10

// The thread ends with the reading: nobody is there to end it earlier.
const { signal } = new AbortController()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: AuditWorkerMessage): void => parentPort?.postMessage(message)

async function run(task: AuditTask): Promise<void> {
  if (task.task === 'verify') {
    const options = { asOf: task.asOf, checkpoint: null, signal, progress: (progress: Progress) => post({ progress }) }
    post({ verified: await verify(task.url, options) })
    return
  }
  const pool = openPool(task.url, { max: 2, application_name: 'audit aside' })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    const reading = { signal, onPlanned: () => {}, onScanned: () => {} }
    post({ balance: await foldTrialBalance(db, task.position, reading) })
  } finally {
    await db.destroy()
  }
}

lowerThreadPriority((nice) => Math.max(nice, NICE))
await run(workerData)
