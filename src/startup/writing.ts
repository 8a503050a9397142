import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { fingerprint, newIncarnation } from '../config/keys.ts'
import { FailureLog } from '../db/log.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import { loadDemo } from '../demo/load.ts'
import { openApprovals } from '../features/proposals/approval-limits.ts'
import { findOverdueProposals } from '../features/proposals/reads.ts'
import { registeredExpireProposals } from '../features/proposals/routes.ts'
import { MAX_PURGED_GAMES } from '../features/roulette/cancel.ts'
import { findStaleGames } from '../features/roulette/reads.ts'
import { registeredStaleGames } from '../features/roulette/verbs.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { runVerb, sendAsSystem } from '../ledger/executor/run-verb.ts'
import { genesis } from '../ledger/rules/incarnation.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import { Dispatcher } from '../notifications/dispatcher.ts'
import { fcmSender } from '../notifications/fcm-sender.ts'
import { unreadOnly } from '../notifications/notifier.ts'
import { Outbox, type Send } from '../notifications/outbox.ts'
import { logSubscriber, outboxSubscriber } from '../notifications/subscribers.ts'
import { notifier as composedNotifier } from '../slices.ts'
import type { Database } from './database.ts'
import type { Ledger } from './ledger.ts'

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

/** Between two looks for stale games. */
const GAMES_INTERVAL_MS = 2_000

/**
 * Cancels unfinished games, on whichever instance finds them first, until `cleanUp`. With `maxOpenMinutes` 0
 * only games without players are cancelled.
 */
export function startStaleGames(
  executor: Pick<Executor, 'run'>,
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  maxOpenMinutes: number,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const db = queryBuilder(subscriberPool)
  const max_open_minutes = maxOpenMinutes === 0 ? null : maxOpenMinutes
  const failureLog = new FailureLog(log, 'cancelling stale games fails; retrying', 'cancelling stale games recovered')
  /** Cancels all stale games, a page at a time. */
  const sweep = async (signal: AbortSignal): Promise<void> => {
    let candidates: readonly number[]
    let cancelled: unknown
    do {
      candidates = await findStaleGames(db, max_open_minutes, MAX_PURGED_GAMES)
      if (candidates.length === 0) return
      cancelled = await sendAsSystem(executor, registeredStaleGames, { candidates, max_open_minutes })
      if (cancelled !== 0) log.info({ games: cancelled }, 'stale roulette games cancelled')
    } while (candidates.length === MAX_PURGED_GAMES && cancelled !== 0 && !signal.aborted)
  }
  repeat(sweep, GAMES_INTERVAL_MS, failureLog, cleanUp)
}

/** Nothing waits for it: a proposal past its time is closed whether or not its event is written. */
const PROPOSALS_INTERVAL_MS = 60_000
const MAX_EXPIRED_PROPOSALS = 100

/** Puts the end of proposals that nobody has decided in time on the ledger, until `cleanUp`. */
function startExpiringProposals(
  executor: Pick<Executor, 'run'>,
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const db = queryBuilder(subscriberPool)
  const failureLog = new FailureLog(log, 'expiring proposals fails; retrying', 'expiring proposals recovered')
  const expire = async (): Promise<void> => {
    const candidates = await findOverdueProposals(db, MAX_EXPIRED_PROPOSALS)
    if (candidates.length > 0) await sendAsSystem(executor, registeredExpireProposals, { candidates })
  }
  repeat(expire, PROPOSALS_INTERVAL_MS, failureLog, cleanUp)
}

const MAX_BACKOFF_MS = 60_000

/** Does `work` at intervals until `cleanUp`, which waits for it; less often while it fails. */
function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  intervalMs: number,
  failureLog: FailureLog,
  cleanUp: AsyncDisposableStack,
): void {
  const stop = new AbortController()
  const { signal } = stop
  const run = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      const delay = Math.min(intervalMs * 2 ** failures, MAX_BACKOFF_MS)
      // With jitter, so that instances do not try the same at once.
      await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        await work(signal)
        failures = 0
        failureLog.succeeded(work)
      } catch (error) {
        failures += 1
        failureLog.failed(error, work)
      }
    }
  }
  const running = run()
  cleanUp.defer(() => {
    stop.abort()
    return running
  })
}

/** The name of the subscription's cursor in `ledger_cursors`, the same with and without FCM. */
export const PUSH_SUBSCRIBER = 'push'
/** How long sends that are under way may take when the service stops. */
const STOP_TIMEOUT_MS = 1_500

/** Sends notifications to users' devices; stopped by `cleanUp`. */
function startNotifications(
  fcm: Config['fcm'],
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  tail: Pick<Tail, 'subscribeDurable'>,
  metrics: Pick<Metrics, 'pushAttempted'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const db = queryBuilder(subscriberPool)
  const notifier = unreadOnly(composedNotifier)
  if (fcm === null) {
    tail.subscribeDurable(PUSH_SUBSCRIBER, logSubscriber(db, notifier, log))
    return
  }
  const sendAbort = new AbortController()
  const outbox = new Outbox(subscriberPool)
  const fcmSend = fcmSender(fcm.account, fcm.baseUrl, sendAbort.signal)
  const send: Send = async (delivery) => {
    const outcome = await fcmSend(delivery)
    metrics.pushAttempted(outcome.kind)
    return outcome
  }
  const dispatcher = new Dispatcher({ outbox, send, log })
  cleanUp.defer(async () => {
    const stopTimeout = setTimeout(() => sendAbort.abort(), STOP_TIMEOUT_MS)
    await dispatcher.stop()
    clearTimeout(stopTimeout)
  })
  dispatcher.start()
  tail.subscribeDurable(PUSH_SUBSCRIBER, outboxSubscriber(db, notifier, outbox, dispatcher, log))
}
