import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { clockAhead, MIN_AHEAD_SECONDS } from '../db/head.ts'
import { FailureLog } from '../db/log.ts'
import {
  type InstanceIdentity,
  type InstanceState,
  removeInstance,
  removeSilentInstances,
  saveInstance,
} from '../db/queries/instances.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import { type IndexLag, readIndexLag } from '../ledger/indexes/index-reads.ts'
import type { Database } from './database.ts'
import type { IndexerThreadMessage } from './indexer-thread.ts'

const HEARTBEAT_INTERVAL_MS = 5_000
/** Heartbeats between two looks for silent instances. */
const HEARTBEATS_PER_SWEEP = 6

/** How much of the version is shown. */
const VERSION_DIGITS = 8

/** As `startHeartbeat`, for this process, on a standby once it is promoted. */
export function announceInstance(
  database: Pick<Database, 'subscriberPool' | 'promotion'>,
  version: string,
  readState: () => InstanceState,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const identity = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    version: version.slice(0, VERSION_DIGITS),
  }
  const heartbeat = cleanUp.use(new AsyncDisposableStack())
  void database.promotion.whenPromoted(
    async () => startHeartbeat(database, identity, readState, log, heartbeat),
    (err) => log.error({ err }, 'heartbeats cannot start; the console does not show this instance'),
  )
}

/** Tells in the table of instances that this one is there, and how it is, until `cleanUp` removes its row. */
export function startHeartbeat(
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  identity: InstanceIdentity,
  readState: () => InstanceState,
  log: Logger,
  cleanUp: AsyncDisposableStack,
  intervalMs = HEARTBEAT_INTERVAL_MS,
): void {
  const failureLog = new FailureLog(
    log,
    'this instance cannot say that it is there; retrying',
    'this instance says again that it is there',
  )
  const stop = new AbortController()
  const { signal } = stop

  const beat = async (): Promise<void> => {
    for (let beats = 0; !signal.aborted; beats += 1) {
      try {
        await saveInstance(subscriberPool, identity, readState())
        if (beats % HEARTBEATS_PER_SWEEP === 0) await removeSilentInstances(subscriberPool)
        failureLog.succeeded(beat)
      } catch (error) {
        failureLog.failed(error, beat)
      }
      // With jitter, so that instances that were started together do not write together.
      await sleep(intervalMs * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const beating = beat()
  cleanUp.defer(async () => {
    stop.abort()
    await beating
    // A database that is gone keeps nobody from stopping; others remove the row.
    await removeInstance(subscriberPool, identity.id).catch((error: unknown) => failureLog.failed(error, beat))
  })
}

/** Interval at which the lag, and the ledger's clock, are read for the metrics. */
const METRICS_INTERVAL_MS = 5_000

const RESTART_MS = 1_000

/**
 * Writes the index of the ledger and measures its lag, until `cleanUp`. In a thread: it takes some 20 µs an event, and would
 * hold the event loop for 3 ms a block.
 */
export function startIndexes(
  { url, subscriberPool }: Pick<Database, 'url' | 'subscriberPool'>,
  metrics: Metrics,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const failureLog = new FailureLog(
    log,
    'indexes of the ledger not written; retrying. Histories and statements get slower. If that lasts, ' +
      'npm run audit -- rebuild --full writes them again',
    'indexes of the ledger are written again',
  )
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    const thread = new Worker(new URL('./indexer-thread.ts', import.meta.url), { workerData: url })
    thread.on('message', (message: IndexerThreadMessage) => {
      if (message === null) failureLog.succeeded(run)
      else failureLog.failed(Object.assign(Object(message.error), { code: message.code }), run)
    })
    // A statement that is cut off happens wholly or not at all.
    stop.signal.addEventListener('abort', () => void thread.terminate(), { once: true })
    try {
      await once(thread, 'exit')
      if (!stop.signal.aborted) failureLog.failed(new Error('the thread of the index has ended'), run)
    } catch (error) {
      failureLog.failed(error, run)
    }
  }
  const running = (async () => {
    for (; !stop.signal.aborted; await sleep(RESTART_MS, undefined, stop).catch(() => {})) await run()
  })()
  cleanUp.defer(() => {
    stop.abort()
    return running
  })

  const db = queryBuilder(subscriberPool)
  let lag: IndexLag = { events: 0, seconds: 0 }
  // Not at each scrape, which must be answered while the database is away, too.
  const reading = setInterval(() => {
    readIndexLag(db).then(
      (latest) => (lag = latest),
      () => {},
    )
  }, METRICS_INTERVAL_MS)
  cleanUp.defer(() => clearInterval(reading))
  metrics.watchIndexes(() => lag)
}

/**
 * Measures until `cleanUp` how far the ledger's time is ahead of the database's clock, which has gone back then, and logs when
 * that begins and ends. Meanwhile the ledger's time stands still, and with it whatever becomes due by it.
 */
export function startLedgerClock(
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  metrics: Metrics,
  log: Logger,
  cleanUp: AsyncDisposableStack,
  intervalMs = METRICS_INTERVAL_MS,
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
