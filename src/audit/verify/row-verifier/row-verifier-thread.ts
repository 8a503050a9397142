import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import type { BalanceSnapshot } from '../balance-checks.ts'
import { IntegrityChecks } from '../integrity-checks.ts'
import { checkPage, type PageResult } from './row-verifier.ts'

// The thread of `chain-aside.ts`: checks page after page until it is ended.

export type RowVerifierTask = { readonly page: Uint8Array } | { readonly expect: CheckpointHead } | 'take balances'

export type RowVerifierMessage = { readonly checked: PageResult } | { readonly taken: BalanceSnapshot }

/** Of this thread alone: the other one takes longer, so that the processor is rather its. */
const BEHIND = 5
const LOWEST = 19
// Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + BEHIND, LOWEST))

const checks = new IntegrityChecks()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: RowVerifierMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (task: RowVerifierTask) => {
  if (task === 'take balances') return post({ taken: checks.takeBalances() })
  if ('expect' in task) return checks.expectCheckpoint(task.expect)
  const { buffer, byteOffset, byteLength } = task.page
  post({ checked: checkPage(checks, Buffer.from(buffer, byteOffset, byteLength)) })
})
