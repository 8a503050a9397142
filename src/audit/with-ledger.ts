import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { EventData } from '../../schema/events.ts'
import { type LostCommitsConfig, readLostCommitsConfig } from '../config/environment.ts'
import { newIncarnation } from '../config/keys.ts'
import { connect } from '../db/connect.ts'
import { isLater, type LastSeen, lastSeenFile, readLastSeen, writeLastSeen } from '../db/last-seen.ts'
import type { Log } from '../db/log.ts'
import { evolve, tables } from '../domain.ts'
import { plainStaffName } from '../http/auth/caller.ts'
import { Executor } from '../ledger/executor/executor.ts'
import { DatabaseIsStandby, LedgerWentBack } from '../ledger/executor/failures.ts'
import type { AssertLedger } from '../ledger/executor/pipelined-connection.ts'
import { runVerb } from '../ledger/executor/run-verb.ts'
import { recordRestore } from '../ledger/rules/incarnation.ts'
import type { StoredEvent } from '../ledger/storage/event-hash.ts'
import {
  type Comparison,
  compareWithSeen,
  describeLoss,
  isElsewhere,
  type LedgerEnd,
  type LostCommits,
  queryOf,
  readLedgerEnd,
  recordLostCommits,
  saveHome,
  seenAt,
} from '../ledger/storage/lost-commits.ts'

/** How long a start waits for another instance to say that the ledger's new database is right. */
const OTHERS_TIMEOUT_MS = 10_000
const OTHERS_INTERVAL_MS = 250

/** For all that is asked on one connection, the wait for others included. */
const COMPARE_TIMEOUT_MS = 25_000

/** Why nothing is written on a ledger that lost commits, or may have, and what to do; `file` has what was seen of it. */
export const lossMessage = (
  end: LedgerEnd,
  seen: LastSeen | null,
  { is, reason }: Extract<Comparison, { readonly reason: string }>,
  file: string,
): string =>
  `${describeLoss(end, seen, reason).text}. ${
    is === 'another'
      ? `Restore a backup and run npm run after-restore; if another ledger is meant, remove ${file}.`
      : 'Stop all instances and run npm run after-restore: only then can the service start.'
  }`

/**
 * Compares the ledger with what was seen of it last with this DATA_DIR, and begins an incarnation where commits were lost
 * and ON_LOST_COMMITS says `recover`. Resolves to what is seen now; null on an empty ledger. Throws an Error that says what
 * to do where commits were lost, or may have been, or where the whole ledger was; and soon once `stop` is aborted.
 */
export async function compareAtStart(
  url: string,
  config: LostCommitsConfig,
  log: Log,
  stop?: AbortSignal,
): Promise<LastSeen | null> {
  const timeout = AbortSignal.timeout(COMPARE_TIMEOUT_MS)
  const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop])
  const client = await connect(url, 'economy ledger watch', { signal })
  try {
    return await compare(url, client, config, log)
  } finally {
    await client.end()
  }
}

async function compare(url: string, client: ClientBase, config: LostCommitsConfig, log: Log): Promise<LastSeen | null> {
  const file = lastSeenFile(config.dataDir, config.ledgerSchema)
  let seen = await readLastSeen(file)
  const stops = config.onLostCommits === 'stop'
  const query = queryOf(client)
  const othersUntil = performance.now() + OTHERS_TIMEOUT_MS
  for (;;) {
    const end = await readLedgerEnd(query, seen?.position ?? null)
    if (seen !== null && isElsewhere(end, seen)) {
      log.warn({}, `${file} is of another ledger in another database; this one is taken as it is`)
      seen = null
    }
    const found = compareWithSeen(end, seen, config.databaseSynchronous)
    switch (found.is) {
      case 'unknown':
        return seen ?? seenAt(end)
      case 'here':
        if (found.hasMoved) await saveHome(query)
        return seenAt(end)
      case 'restored':
        return seenAt(end)
      case 'unseen':
        if (performance.now() < othersUntil && (await isAnotherAlive(client))) {
          await sleep(OTHERS_INTERVAL_MS)
          continue
        }
    }
    const refusal = new Error(lossMessage(end, seen, found, file))
    // Where nothing was seen here, other instances may know that nothing is missing.
    if (found.is === 'another' || (found.is === 'unseen' && stops)) throw refusal
    const { reason } = found
    const lost = end.lost ?? (await recordLoss(client, end, seen, reason))
    // Another instance has begun an incarnation.
    if (lost === null) continue
    if (stops) throw refusal
    const { incarnation, position, hash } = lost
    const last_known = position === null || hash === null ? null : { position, hash }
    await beginIncarnation(url, 'system', { incarnation, reason, last_known })
    log.warn({ incarnation }, `${describeLoss(end, seen, reason).text}; a new incarnation has begun`)
  }
}

/** Whether another instance has said a moment ago that it is there. */
async function isAnotherAlive(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query(`select from instances where seen_at > now() - interval '30 seconds' limit 1`)
  return rows.length > 0
}

/** Records that commits were lost after `known`, unless somebody has; null when an incarnation has begun since. */
export async function recordLoss(
  client: ClientBase,
  { incarnation }: LedgerEnd,
  known: Pick<LastSeen, 'position' | 'hash'> | null,
  reason: string,
): Promise<LostCommits | null> {
  if (incarnation === null) throw new Error('the ledger is empty')
  return await recordLostCommits(client, { incarnation, next: newIncarnation(), reason, last_known: known })
}

/** The actor on the ledger for a command line: the user's name, or the user id where the system has no name. */
export function localStaffName(): string {
  return `staff:${plainStaffName(systemUserName()) ?? process.getuid?.() ?? 'unknown'}`
}

function systemUserName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

/** Compares the ledger with what was seen, before it is written on a new connection, and sees what is committed here. */
export interface Watch {
  readonly assertLedger: AssertLedger
  readonly committed: (events: readonly StoredEvent[]) => void
}

/**
 * Calls `work` with an executor. It is one more writer to the ledger, next to the instances of the service. Without `watch`
 * the ledger is written whatever it lost: `withLedger` is for all but the command that begins an incarnation.
 */
async function withExecutor<Result>(
  url: string,
  work: (executor: Executor) => Promise<Result>,
  { assertLedger, committed }: Watch = { assertLedger: async () => {}, committed: () => {} },
): Promise<Result> {
  const observer = {
    committed: ({ events }: { readonly events: readonly StoredEvent[] }) => committed(events),
    bug: () => {},
    failed: () => {},
  }
  const executor = new Executor({ url, tables, evolve, observer, assertLedger })
  try {
    return await work(executor)
  } finally {
    await executor.close()
  }
}

/** Records `ledger-restored`, from which on the ledger may be written again. */
export async function beginIncarnation(
  url: string,
  actor: string,
  restore: EventData<'ledger-restored'>,
): Promise<void> {
  await withExecutor(url, (executor) => runVerb(executor, recordRestore, restore, actor))
}

/** A command line that writes. */
export interface LedgerWriter {
  /** The connection of the service's own role. */
  readonly url: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints a line that is no output. */
  readonly remark: (text: string) => void
}

/**
 * Calls `work` with an executor, as `withExecutor`, on a ledger that has what instances with this DATA_DIR have seen of it.
 * Where commits were lost, it does before `work` what a start of the service does: throws what to do, or begins an
 * incarnation. Throws on a ledger without events, too: its first one is the service's, which names the incarnation. Commits
 * that are lost meanwhile are noticed when the executor connects again: `LedgerWentBack`.
 */
export async function withLedger<Result>(
  { url, env, remark }: LedgerWriter,
  work: (executor: Executor) => Promise<Result>,
): Promise<Result> {
  const config = readLostCommitsConfig(env)
  const file = lastSeenFile(config.dataDir, config.ledgerSchema)
  let seen = await compareAtStart(url, config, { warn: (_details, message) => remark(message) })
  if (seen === null) throw new Error('The ledger has no event: start the service once, which begins it.')
  try {
    return await withExecutor(url, work, {
      assertLedger: async (query) => {
        const end = await readLedgerEnd(query, seen?.position ?? null)
        const found = compareWithSeen(end, seen, config.databaseSynchronous)
        if ('reason' in found) throw new LedgerWentBack(lossMessage(end, seen, found, file))
        // After a promotion this connection would write what nobody has compared.
        if (found.is === 'unknown') throw new DatabaseIsStandby('the database is a standby')
        seen = seenAt(end)
      },
      committed: (events) => {
        const last = events.at(-1)
        if (seen !== null && last !== undefined) seen = { ...seen, position: last.position, hash: last.entry.hash }
      },
    })
  } finally {
    // Only a host of instances has the file; a later start there misses what was committed here, if it is lost.
    const before = await readLastSeen(file)
    if (seen !== null && before !== null && isLater(seen, before)) {
      await writeLastSeen(file, seen).catch((error: unknown) => remark(`${file} cannot be written: ${String(error)}`))
    }
  }
}
