import type { Logger } from 'pino'
import { FailureLog } from '../../db/log.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import { type IndexLag, readIndexLag } from '../../ledger/indexes/index-lag.ts'
import { LedgerIndexer } from '../../ledger/indexes/indexer.ts'
import type { Database } from '../database.ts'

/** Interval at which the lag is read for the metrics. */
const LAG_INTERVAL_MS = 5_000

/** Writes the indexes of the ledger in the background, and measures their lag, until `cleanUp`. */
export function startIndexes(
  { url, subscriberPool }: Pick<Database, 'url' | 'subscriberPool'>,
  metrics: Metrics,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const failureLog = new FailureLog(
    log,
    'indexes of the ledger not written; retrying. Histories and statements get slower',
    'indexes of the ledger are written again',
  )
  const indexer = new LedgerIndexer({ url, failureLog })
  cleanUp.defer(() => indexer.stop())
  indexer.start()

  const db = queryBuilder(subscriberPool)
  let lag: IndexLag = { events: 0, seconds: 0 }
  // Not at each scrape, which must be answered while the database is away, too.
  const reading = setInterval(() => {
    readIndexLag(db).then(
      (latest) => (lag = latest),
      () => {},
    )
  }, LAG_INTERVAL_MS)
  cleanUp.defer(() => clearInterval(reading))
  metrics.watchIndexes(() => lag)
}
