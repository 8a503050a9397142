import { parentPort } from 'node:worker_threads'
import type { KeptBalances } from '../../ledger/replay/replay.ts'
import { lowerThreadPriority } from '../jobs/thread-priority.ts'
import { addIndexPages, checkPage, IntegrityChecks, type LastEvent, type PageResult } from './integrity-checks.ts'
import type { LinesDigest } from './line-digests.ts'

// The thread of `WorkerRowVerifier`: checks page after page until it is terminated.

export type RowVerifierTask =
  | { readonly type: 'begin'; readonly last: LastEvent; readonly balances: string | null }
  | { readonly type: 'page'; readonly page: Uint8Array }
  | { readonly type: 'index-pages'; readonly pages: Uint8Array<ArrayBuffer>; readonly after: number }
  | { readonly type: 'expect-index' }
  | { readonly type: 'find-differing-blocks'; readonly before: number }
  | { readonly type: 'digest-balances'; readonly path: string | null }
  | { readonly type: 'take-balances' }

export type RowVerifierMessage =
  | { readonly type: 'page-result'; readonly result: PageResult }
  | { readonly type: 'differing-blocks'; readonly bases: readonly number[] }
  | { readonly type: 'balances-digest'; readonly digest: LinesDigest }
  | { readonly type: 'balances'; readonly balances: KeptBalances }

/** Nice levels below the main thread, which has more to do. */
const NICE_OFFSET = 5
lowerThreadPriority((nice) => nice + NICE_OFFSET)

const checks = new IntegrityChecks()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
const post = (message: RowVerifierMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (task: RowVerifierTask) => {
  switch (task.type) {
    case 'begin':
      checks.begin(task.last, task.balances)
      return post({ type: 'page-result', result: { findings: [], last: checks.last } })
    case 'page': {
      const { buffer, byteOffset, byteLength } = task.page
      return post({ type: 'page-result', result: checkPage(checks, Buffer.from(buffer, byteOffset, byteLength)) })
    }
    case 'index-pages': {
      const { buffer, byteOffset, byteLength } = task.pages
      const pages = Buffer.from(buffer, byteOffset, byteLength)
      return post({ type: 'page-result', result: addIndexPages(checks, pages, task.after) })
    }
    case 'expect-index':
      return checks.expectIndex()
    case 'find-differing-blocks':
      return post({ type: 'differing-blocks', bases: checks.differingBlocks(task.before) })
    case 'digest-balances':
      return post({ type: 'balances-digest', digest: checks.balancesDigest(task.path) })
    case 'take-balances':
      return post({ type: 'balances', balances: checks.takeBalances() })
  }
})
