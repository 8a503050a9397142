import { readFileSync } from 'node:fs'
import type { Kysely } from 'kysely'
import { formatApprovals } from '../config/approvals.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'
import type { Tables } from '../db/tables.ts'
import { isSameLimits } from '../features/proposals/approval-limits.ts'
import { readApprovalLimits } from '../features/proposals/reads.ts'
import { isKnown } from '../ledger/storage/stored-event.ts'
import { MAX_SOCKETS } from '../realtime/sockets/connection-registry.ts'

/**
 * Throws where APPROVALS or APPROVAL_LIMITS are not what the ledger says, and in production says where nobody checks what
 * staff move.
 */
export async function checkApprovals(
  db: Kysely<Tables>,
  { approvals: { isOn, limits }, production }: Pick<Config, 'approvals' | 'production'>,
  log: Log,
): Promise<void> {
  const kept = await readApprovalLimits(db)
  const isOtherState = isOn !== null && isOn !== (kept !== null)
  const isOtherLimits = isOn !== false && kept !== null && limits !== null && !isSameLimits(limits, kept)
  if (isOtherState || isOtherLimits) {
    throw new Error(
      `${isOtherState ? 'APPROVALS' : 'APPROVAL_LIMITS'} differs from what the ledger says: ${formatApprovals(kept)}. ` +
        'Leave APPROVALS and APPROVAL_LIMITS out, or change what the ledger says for all instances and command lines: ' +
        'npm run approvals -- set …',
    )
  }
  if (production && kept === null) {
    log.warn({}, 'approvals are off: staff move value alone (npm run approvals -- set on … limits it)')
  }
}

/** Throws where the ledger has events of a type or version that this version does not know. */
export async function checkEventTypes(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom('event_types')
    .select(['type', 'version'])
    .orderBy('type')
    .orderBy('version')
    .execute()
  const unknown = rows.filter(({ type, version }) => !isKnown(type, version))
  if (unknown.length === 0) return
  throw new Error(
    'The ledger has events that this version does not know: ' +
      `${unknown.map(({ type, version }) => `${type} version ${version}`).join(', ')}. ` +
      'Start the version that wrote them, or a later one; npm run audit -- verify --full tells whether there are such events.',
  )
}

/** Open files of a process on Linux. */
const LIMITS = '/proc/self/limits'
/** For requests, upgrades that are refused, the database and files. */
const OTHER_FILES = 2_000

/** Warns when the system lets the process open fewer sockets than the service admits. Elsewhere than on Linux, it does not tell. */
export function warnAboutFileLimit(log: Log, read = () => readFileSync(LIMITS, 'utf8')): void {
  let limits: string
  try {
    limits = read()
  } catch {
    return
  }
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? []
  const needed = MAX_SOCKETS + OTHER_FILES
  if (limit === undefined || Number(limit) >= needed) return
  log.warn({ limit: Number(limit), needed }, `too few open files for all sockets; set ulimit -n to ${needed} or more`)
}

/** Warns about operators' routes that are open to everyone. */
export function warnAboutOpenRoutes({ metricsToken, docs }: Pick<Config, 'metricsToken' | 'docs'>, log: Log): void {
  const routes = [
    ...(metricsToken === null ? ['/metrics (METRICS_TOKEN closes it)'] : []),
    ...(docs ? ['/docs (DOCS=off closes it)'] : []),
  ]
  if (routes.length > 0) log.warn({ routes }, "operators' routes are open to everyone")
}
