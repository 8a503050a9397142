import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { fingerprint, newIncarnation } from '../../config/keys.ts'
import { FailureLog } from '../../db/log.ts'
import { loadDemo } from '../../demo/load.ts'
import { openApprovals } from '../../features/proposals/set-approvals.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import { runVerb } from '../../ledger/executor/run-verb.ts'
import { genesis } from '../../ledger/storage/genesis.ts'
import type { Database } from '../database.ts'
import type { Ledger } from '../ledger.ts'
import { startNotifications } from '../notifications.ts'
import { startExpiringProposals } from './expiring-proposals.ts'
import { startStaleGames } from './stale-games.ts'

/**
 * Begins the ledger where it has no event yet, and starts what writes to it without a request. On a standby that is when it
 * is promoted, and is tried again until it succeeds.
 */
export async function startWriting(
  config: Config,
  database: Database,
  { executor, tail }: Pick<Ledger, 'executor' | 'tail'>,
  metrics: Metrics,
  log: Logger,
  stop: AbortSignal,
  cleanUp: AsyncDisposableStack,
): Promise<void> {
  const writers = cleanUp.use(new AsyncDisposableStack())
  const start = async (): Promise<void> => {
    const { keys } = database
    await runVerb(executor, genesis, { fairness_key: fingerprint(keys.fairness), incarnation: newIncarnation() })
    const { isOn, limits } = config.approvals
    await runVerb(executor, openApprovals, { limits: isOn === true ? limits : null })
    if (config.demo) await loadDemo(executor, database.db)
    stop.throwIfAborted()
    await using starting = new AsyncDisposableStack()
    startExpiringProposals(executor, database, log, starting)
    startStaleGames(executor, database, config.rouletteMaxOpenMinutes, log, starting)
    startNotifications(config.fcm, database, tail, metrics, log, starting)
    writers.use(starting.move())
  }
  if (!database.promotion.isStandby) return start()
  const failures = new FailureLog(
    log,
    'background work does not start after the promotion; retrying',
    'background work started after the promotion',
  )
  const startOrThrow = async (): Promise<void> => {
    await start()
    failures.succeeded(start)
  }
  void database.promotion.whenPromoted(startOrThrow, (err) => {
    if (!stop.aborted) failures.failed(err, start)
  })
}
