import { parentPort } from 'node:worker_threads'
import { ChainChecks } from './chain-checks.ts'
import { checkPage, type PageChecked } from './chain-half.ts'
import type { Ending } from './checkpoint.ts'

// The thread of `chain-aside.ts`: checks page after page until it is ended.

export type ChainTask = { readonly page: Uint8Array } | { readonly expect: Ending }

const checks = new ChainChecks()

parentPort?.on('message', (task: ChainTask) => {
  if ('expect' in task) return checks.expect(task.expect)
  const { buffer, byteOffset, byteLength } = task.page
  const checked: PageChecked = checkPage(checks, Buffer.from(buffer, byteOffset, byteLength))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  parentPort?.postMessage(checked)
})
