import { parentPort } from 'node:worker_threads'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import { lowerThreadPriority } from '../../thread-priority.ts'
import type { BalanceSnapshot } from '../balance-checks.ts'
import { IntegrityChecks } from '../integrity-checks.ts'
import { checkPage, type PageResult } from './row-verifier.ts'

// The thread of `chain-aside.ts`: checks page after page until it is ended.

export type RowVerifierTask = { readonly page: Uint8Array } | { readonly expect: CheckpointHead } | 'take balances'

export type RowVerifierMessage = { readonly checked: PageResult } | { readonly taken: BalanceSnapshot }

/** Nice levels below the main thread, which has more to do. */
const NICE_OFFSET = 5
lowerThreadPriority((nice) => nice + NICE_OFFSET)

const checks = new IntegrityChecks()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: RowVerifierMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (task: RowVerifierTask) => {
  if (task === 'take balances') return post({ taken: checks.takeBalances() })
  if ('expect' in task) return checks.expectCheckpoint(task.expect)
  const { buffer, byteOffset, byteLength } = task.page
  post({ checked: checkPage(checks, Buffer.from(buffer, byteOffset, byteLength)) })
})
