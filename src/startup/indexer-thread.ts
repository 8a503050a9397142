import { parentPort, workerData } from 'node:worker_threads'
import { errorCode } from '../config/error-code.ts'
import { LedgerIndexer } from '../ledger/indexes/indexer.ts'

// The thread that writes the index of the ledger, whose address it is given, until it is terminated.

/** Why the index cannot be written; null when it can. Codes are lost by errors that go from thread to thread. */
export type IndexerThreadMessage = { readonly error: unknown; readonly code: string | undefined } | null

const report = (message: IndexerThreadMessage): void =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
  parentPort?.postMessage(message)

let isFailing = true
const indexer = new LedgerIndexer({
  url: workerData,
  failureLog: {
    failed(error) {
      isFailing = true
      report({ error, code: errorCode(error) })
    },
    succeeded() {
      if (isFailing) report(null)
      isFailing = false
    },
  },
})
indexer.start()
