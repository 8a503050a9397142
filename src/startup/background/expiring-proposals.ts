import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FailureLog } from '../../db/log.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import { findOverdueProposals } from '../../features/proposals/reads.ts'
import { registeredExpireProposals } from '../../features/proposals/verbs.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import type { Database } from '../database.ts'
import { sendAsSystem } from '../system.ts'

/** Nothing waits for it: a proposal past its time is closed whether or not its event is written. */
const POLL_INTERVAL_MS = 60_000
const MAX_CANDIDATES = 100

/** Puts the end of proposals that nobody has decided in time on the ledger, until `cleanUp`. */
export function startExpiringProposals(
  executor: Pick<Executor, 'run'>,
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
  pollIntervalMs = POLL_INTERVAL_MS,
): void {
  const db = queryBuilder(subscriberPool)
  const failureLog = new FailureLog(log, 'expiring proposals fails; retrying', 'expiring proposals recovered')
  const stop = new AbortController()
  const { signal } = stop

  const poll = async (): Promise<void> => {
    for (;;) {
      // With jitter, so that instances do not try the same proposals at once.
      await sleep(pollIntervalMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        const candidates = await findOverdueProposals(db, MAX_CANDIDATES)
        if (candidates.length > 0) await sendAsSystem(executor, registeredExpireProposals, { candidates })
        failureLog.succeeded(poll)
      } catch (error) {
        failureLog.failed(error, poll)
      }
    }
  }
  const polling = poll()
  cleanUp.defer(() => {
    stop.abort()
    return polling
  })
}
