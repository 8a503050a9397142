import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { LostCommitsConfig } from '../config/environment.ts'
import { newIncarnation } from '../config/keys.ts'
import { connect } from '../db/connect.ts'
import { type LastSeen, lastSeenFile, readLastSeen } from '../db/last-seen.ts'
import type { Log } from '../db/log.ts'
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
import { beginIncarnation } from './begin-incarnation.ts'

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
