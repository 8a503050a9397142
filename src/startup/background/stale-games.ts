import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FailureLog } from '../../db/log.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import { MAX_PURGED_GAMES } from '../../features/roulette/old-games/purge.ts'
import { findStaleGames } from '../../features/roulette/reads.ts'
import { registeredStaleGames } from '../../features/roulette/verbs.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import type { Database } from '../database.ts'
import { sendAsSystem } from '../system.ts'

const POLL_INTERVAL_MS = 2_000
const MAX_BACKOFF_MS = 60_000

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
  const stop = new AbortController()
  const { signal } = stop

  /** Cancels all stale games, a page at a time. */
  const sweep = async (): Promise<void> => {
    let candidates: readonly number[]
    let cancelled: unknown
    do {
      candidates = await findStaleGames(db, max_open_minutes, MAX_PURGED_GAMES)
      if (candidates.length === 0) return
      cancelled = await sendAsSystem(executor, registeredStaleGames, { candidates, max_open_minutes })
      if (cancelled !== 0) log.info({ games: cancelled }, 'stale roulette games cancelled')
    } while (candidates.length === MAX_PURGED_GAMES && cancelled !== 0 && !signal.aborted)
  }

  const poll = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      const delay = Math.min(POLL_INTERVAL_MS * 2 ** failures, MAX_BACKOFF_MS)
      // With jitter, so that instances do not try the same games at once.
      await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        await sweep()
        failures = 0
        failureLog.succeeded(poll)
      } catch (error) {
        failures += 1
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
