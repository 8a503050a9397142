import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Ending } from '../../checkpoint/checkpoint.ts'
import type { KeptBalances } from '../balance-checks.ts'
import { ChainChecks } from '../integrity-checks.ts'
import { checkPage, type PageChecked } from './row-verifier.ts'

// The thread of `chain-aside.ts`: checks page after page until it is ended.

export type ChainTask = { readonly page: Uint8Array } | { readonly expect: Ending } | 'take balances'

export type ChainMessage = { readonly checked: PageChecked } | { readonly taken: KeptBalances }

/** Of this thread alone: the other one takes longer, so that the processor is rather its. */
const BEHIND = 5
const LOWEST = 19
// Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + BEHIND, LOWEST))

const checks = new ChainChecks()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const tell = (message: ChainMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (task: ChainTask) => {
  if (task === 'take balances') return tell({ taken: checks.takeBalances() })
  if ('expect' in task) return checks.expect(task.expect)
  const { buffer, byteOffset, byteLength } = task.page
  tell({ checked: checkPage(checks, Buffer.from(buffer, byteOffset, byteLength)) })
})
