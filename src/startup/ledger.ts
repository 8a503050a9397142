import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { pruneKeys } from '../audit/jobs/job-rows.ts'
import { pruneEndedSessions } from '../console/session/session-cookie.ts'
import { headOf, readIncarnation } from '../db/head.ts'
import { FailureLog } from '../db/log.ts'
import { sharedRead } from '../db/queries/caches.ts'
import { pruneBatches, readPassedTime } from '../db/queries/delete-older-rows.ts'
import { makePartitions } from '../db/queries/partitions.ts'
import { evolve, tables } from '../domain.ts'
import { AppStatusGate } from '../features/app-status/app-status.ts'
import { ClientRegistry } from '../features/app-status/client-registry.ts'
import { readAppStatus } from '../features/app-status/reads.ts'
import { CommandRouter } from '../forwarding/command-router.ts'
import { type Sessions, type StaffSessions, sessionsIn, staffSessionsIn, usersBelow } from '../http/auth/sessions.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import { Executor } from '../ledger/executor/executor.ts'
import type { StoredEvent } from '../ledger/storage/event-hash.ts'
import { AppliedEvents, CurrentIncarnation } from '../ledger/subscriptions/applied-events.ts'
import { Tail } from '../ledger/subscriptions/tail.ts'
import type { Database } from './database.ts'
import type { LedgerWatch } from './ledger-watch.ts'

/** Waits of `AppliedEvents.reach`, of a quarter of a second each, and pauses between them. */
const MAX_CATCH_UP_ATTEMPTS = 6
const CATCH_UP_PAUSE_MS = 50
/** Interval at which partitions are made and dropped, and what is no longer needed is deleted. */
const UPKEEP_INTERVAL_MS = 600_000

export interface Ledger {
  /** Runs commands on the writer, or here. */
  readonly executor: CommandRouter
  /** Runs the commands of other instances here. */
  readonly ownExecutor: Executor
  readonly tail: Tail
  readonly applied: AppliedEvents
  readonly sessions: Sessions
  readonly staffSessions: StaffSessions
}

/**
 * Starts the ledger's executor and its subscribers; `cleanUp` closes the executor first. `appState` applies events
 * committed here before their commands are answered, and so does `share` for other instances.
 */
export async function startLedger(
  database: Database,
  watch: Pick<LedgerWatch, 'assertLedger' | 'committed'>,
  metrics: Metrics,
  appState: Pick<AppStatusGate, 'applyAll' | 'follow'>,
  share: (events: readonly StoredEvent[]) => void,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): Promise<Ledger> {
  const { url, db, subscriberPool, promotion } = database
  const position = await headOf(db)
  const incarnation = new CurrentIncarnation(await readIncarnation(db))
  const applied = new AppliedEvents(
    position,
    sharedRead(() => headOf(db)),
    incarnation,
  )
  const subscriberFailures = new FailureLog(log, 'ledger subscribers failing; retrying', 'ledger subscribers recovered')
  const tail = new Tail({
    url,
    pool: subscriberPool,
    failureLog: subscriberFailures,
    log,
    waitForInFlight: () => router.waitForInFlight(),
  })
  cleanUp.defer(() => tail.stop())

  const writeFailures = new FailureLog(log, 'ledger writes failing', 'ledger writes recovered')
  const observer = metrics.observer((error) => writeFailures.failed(error, observer))
  const executor = new Executor({
    url,
    tables,
    evolve,
    assertLedger: watch.assertLedger,
    observer: {
      ...observer,
      committed: (batch) => {
        watch.committed(batch.events)
        observer.committed(batch)
        writeFailures.succeeded(observer)
        appState.applyAll(batch.events)
        applied.apply(batch.events)
        tail.publish(batch.events)
        share(batch.events)
      },
    },
  })
  const router = new CommandRouter(executor, async (position) => {
    for (let i = 0; i < MAX_CATCH_UP_ATTEMPTS && applied.position < position; i += 1) {
      await applied.reach(position)
      // It does not wait while the database cannot be asked.
      if (applied.position < position) await sleep(CATCH_UP_PAUSE_MS)
    }
    return applied.position >= position
  })
  cleanUp.defer(() => executor.close())
  metrics.watchLedger(executor, tail)

  const upkeep = setInterval(() => {
    if (promotion.isStandby) return
    readPassedTime(subscriberPool)
      .then(() => makePartitions(subscriberPool))
      .catch((err: unknown) =>
        log.warn(
          { err },
          'partitions could not be made, or those of replies not dropped; retrying at the next interval',
        ),
      )
    pruneBatches(subscriberPool)
      .then(() => pruneKeys(subscriberPool))
      .then(() => pruneEndedSessions(subscriberPool))
      .catch((err: unknown) => log.warn({ err }, 'expired rows could not be deleted; retrying at the next interval'))
  }, UPKEEP_INTERVAL_MS)
  cleanUp.defer(() => clearInterval(upkeep))

  const sessions = sessionsIn(db)
  const staffSessions = staffSessionsIn(db)
  sessions.follow(tail, position)
  staffSessions.follow(tail, position)
  // Users not loaded by then are looked up at their first request.
  sessions
    .preload(usersBelow(db))
    .catch((err: unknown) => log.warn({ err }, 'users could not be preloaded; each is looked up at its first request'))
  appState.follow(tail)
  applied.follow(tail, (events) => appState.applyAll(events))
  tail.start()
  return { executor: router, ownExecutor: executor, tail, applied, sessions, staffSessions }
}

/** Loads the gate's state; the clients that tokens report are stored until `cleanUp`. */
export async function startAppStatus(
  { db, subscriberPool }: Pick<Database, 'db' | 'subscriberPool'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): Promise<AppStatusGate> {
  const clients = new ClientRegistry(subscriberPool, log)
  cleanUp.defer(() => clients.stop())
  clients.start()
  return new AppStatusGate(await readAppStatus(db), clients)
}
