import { parentPort, workerData } from 'node:worker_threads'
import { LedgerIndexer } from '../ledger/indexes/indexer.ts'

// The thread that writes the index, until it is terminated.

export interface IndexerThreadData {
  /** The ledger's connection string. */
  readonly url: string
}

/** Why the index cannot be written; null once it is again. */
export type IndexerThreadMessage = { readonly failure: unknown }

const { url }: IndexerThreadData = workerData
let isFailing = false
const report = (failure: unknown): void => {
  isFailing = failure !== null
  const message: IndexerThreadMessage = { failure }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  parentPort?.postMessage(message)
}
const indexer = new LedgerIndexer({
  url,
  failureLog: { failed: report, succeeded: () => isFailing && report(null) },
})
indexer.start()
