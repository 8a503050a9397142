import type { Kysely } from 'kysely'
import { formatApprovals } from '../config/approvals.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'
import type { Tables } from '../db/tables.ts'
import { isSameLimits } from '../features/proposals/approval-limits.ts'
import { readApprovalLimits } from '../features/proposals/reads.ts'

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
