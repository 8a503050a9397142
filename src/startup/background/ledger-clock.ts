import type { Logger } from 'pino'
import { clockAhead, MIN_AHEAD_SECONDS } from '../../db/head.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import type { Database } from '../database.ts'

const INTERVAL_MS = 5_000

/**
 * Measures until `cleanUp` how far the ledger's time is ahead of the database's clock, which has gone back then, and logs when
 * that begins and ends. Meanwhile the ledger's time stands still, and with it whatever becomes due by it.
 */
export function startLedgerClock(
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  metrics: Metrics,
  log: Logger,
  cleanUp: AsyncDisposableStack,
  intervalMs = INTERVAL_MS,
): void {
  const db = queryBuilder(subscriberPool)
  let seconds = 0
  let isAhead = false
  const measure = async (): Promise<void> => {
    seconds = await clockAhead(db)
    if (isAhead === seconds >= MIN_AHEAD_SECONDS) return
    isAhead = !isAhead
    if (isAhead)
      log.warn(
        { seconds: Math.round(seconds) },
        "the ledger is ahead of its clock: the database's clock has gone back. Until it has caught up the ledger's time stands " +
          'still, and nothing becomes due by it',
      )
    else log.info('the ledger is no longer ahead of its clock')
  }
  // While the database is away, the last measurement stands.
  const measureIfPossible = (): void => void measure().catch(() => {})
  measureIfPossible()
  // Not at each scrape, which must be answered while the database is away, too.
  const timer = setInterval(measureIfPossible, intervalMs)
  cleanUp.defer(() => clearInterval(timer))
  metrics.watchClock(() => seconds)
}
