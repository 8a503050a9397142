import { parentPort } from 'node:worker_threads'
import type { CheckpointHead } from '../../checkpoint/checkpoint.ts'
import { lowerThreadPriority } from '../../priority/thread-priority.ts'
import type { BalanceSnapshot } from '../balances/balance-checks.ts'
import { IntegrityChecks } from '../integrity-checks.ts'
import { checkPage, type PageResult } from './row-verifier.ts'

// The thread of `WorkerRowVerifier`: checks page after page until it is terminated.

export type RowVerifierTask =
  | { readonly type: 'page'; readonly page: Uint8Array }
  | { readonly type: 'expect-checkpoint'; readonly checkpoint: CheckpointHead }
  | { readonly type: 'take-balances' }

export type RowVerifierMessage =
  | { readonly type: 'page-result'; readonly result: PageResult }
  | { readonly type: 'balances'; readonly balances: BalanceSnapshot }

/** Nice levels below the main thread, which has more to do. */
const NICE_OFFSET = 5
lowerThreadPriority((nice) => nice + NICE_OFFSET)

const checks = new IntegrityChecks()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: RowVerifierMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (task: RowVerifierTask) => {
  switch (task.type) {
    case 'page': {
      const { buffer, byteOffset, byteLength } = task.page
      return post({ type: 'page-result', result: checkPage(checks, Buffer.from(buffer, byteOffset, byteLength)) })
    }
    case 'expect-checkpoint':
      return checks.expectCheckpoint(task.checkpoint)
    case 'take-balances':
      return post({ type: 'balances', balances: checks.takeBalances() })
  }
})
