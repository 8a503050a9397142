import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { connect } from '../../db/connect.ts'
import { FailureLog } from '../../db/failure-log.ts'
import { lockName } from '../../db/ledger-url.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { formerMembersAfter, ownersWithoutMembership } from '../../features/rooms/members/reads.ts'
import { MAX_RECORDED_MEMBERS, type RecordMembers } from '../../features/rooms/members/record-members.ts'
import { registeredRecordMembers } from '../../features/rooms/verbs.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import type { Database } from '../database.ts'
import { sendAsSystem } from '../system.ts'

type Candidate = RecordMembers['candidates'][number]
type ReadCandidates = (db: Kysely<Tables>, limit: number, last: Candidate | undefined) => Promise<Candidate[]>

/**
 * Pauses between passes. An instance of the version before, which writes memberships without events, may still run for a
 * while after this one has started.
 */
const PAUSES_MS = [0, 60_000, 120_000, 240_000, 480_000, 960_000]
const MAX_BACKOFF_MS = 60_000
/** How long an instance waits before it asks again whether another one still records members. */
const LOCK_POLL_INTERVAL_MS = 5_000

/**
 * Puts owners of rooms who are no members on the ledger, then the members who joined before joining was an event; in the
 * background, until `cleanUp`. Members are members meanwhile, too. One instance at a time does it, and the others wait for
 * it. It may be killed at any moment: each command records its members and deletes their former rows in one transaction,
 * and another instance goes on.
 */
export function startRecordingFormerMembers(
  executor: Pick<Executor, 'run'>,
  { url, subscriberPool }: Pick<Database, 'url' | 'subscriberPool'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
  pausesMs: readonly number[] = PAUSES_MS,
): void {
  const db = queryBuilder(subscriberPool)
  const failureLog = new FailureLog(log, 'recording members fails; retrying', 'recording members recovered')
  const stop = new AbortController()
  const { signal } = stop
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})

  /** Records all that are there, a page at a time. Returns how many. */
  const recordAll = async (readCandidates: ReadCandidates): Promise<number> => {
    let recorded = 0
    let last: Candidate | undefined
    do {
      const began = performance.now()
      const candidates = await readCandidates(db, MAX_RECORDED_MEMBERS, last)
      last = candidates.at(-1)
      if (last === undefined) break
      recorded += Number(await sendAsSystem(executor, registeredRecordMembers, { candidates }))
      // Half of the time is left to others.
      await pause(performance.now() - began)
    } while (!signal.aborted)
    return recorded
  }

  /** False when another instance is at it. */
  const pass = async (): Promise<boolean> => {
    const client = await connect(url, 'economy members')
    try {
      // Ends with the session, however that ends.
      const { rows } = await client.query<{ is_locked: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_locked',
        [lockName(url, 'former members')],
      )
      if (rows[0]?.is_locked !== true) return false
      // There are fewer of them.
      const owners = await recordAll(ownersWithoutMembership)
      const members = await recordAll(formerMembersAfter)
      if (members + owners > 0) log.info({ members, owners }, 'members of rooms recorded on the ledger')
      return true
    } finally {
      await client.end()
    }
  }

  const run = async (): Promise<void> => {
    for (const ms of pausesMs) {
      await pause(ms)
      for (let failures = 0; !signal.aborted; ) {
        try {
          const isDone = await pass()
          failureLog.succeeded(run)
          failures = 0
          if (isDone) break
          log.debug('another instance records members of rooms; waiting for it')
          await pause(LOCK_POLL_INTERVAL_MS)
        } catch (error) {
          failureLog.failed(error, run)
          failures += 1
          await pause(Math.min(1_000 * 2 ** failures, MAX_BACKOFF_MS))
        }
      }
    }
  }
  const running = run()
  cleanUp.defer(() => {
    stop.abort()
    return running
  })
}
