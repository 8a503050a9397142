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

/**
 * Puts the members of rooms on the ledger who joined before joining was an event, and owners who are no members; one
 * instance at a time, in the background, until `cleanUp`. Members are members meanwhile, too. It may be killed at any
 * moment: each command records its members and deletes their former rows in one transaction.
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

  const pass = async (): Promise<void> => {
    const client = await connect(url, 'economy members')
    try {
      // Ends with the session, however that ends.
      const { rows } = await client.query<{ is_locked: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_locked',
        [lockName(url, 'former members')],
      )
      if (rows[0]?.is_locked !== true) return
      const members = await recordAll(formerMembersAfter)
      const owners = await recordAll(ownersWithoutMembership)
      if (members + owners > 0) log.info({ members, owners }, 'members of rooms recorded on the ledger')
    } finally {
      await client.end()
    }
  }

  const run = async (): Promise<void> => {
    for (const ms of pausesMs) {
      await pause(ms)
      for (let failures = 0; !signal.aborted; ) {
        try {
          await pass()
          failureLog.succeeded(run)
          break
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
