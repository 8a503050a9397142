import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FailureLog } from '../../db/log.ts'
import {
  type InstanceIdentity,
  type InstanceState,
  removeInstance,
  removeSilentInstances,
  saveInstance,
} from '../../db/queries/instances.ts'
import type { Database } from '../database.ts'

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
