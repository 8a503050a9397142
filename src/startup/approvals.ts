import { formatApprovals } from '../config/approvals.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'
import { keepApprovalSettings } from '../db/queries/approval-settings.ts'
import type { Database } from './database.ts'

/** Says that nobody checks what staff move. */
export function warnWithoutApprovals({ approvalLimits }: Pick<Config, 'approvalLimits'>, log: Log): void {
  if (approvalLimits === null) log.warn({}, 'approvals are off: staff move value alone (APPROVALS=on limits it)')
}

/**
 * Keeps the limits of approvals in the database, for command lines and further instances. Throws where instances run with
 * others: staff would choose the instance that lets them move more.
 */
export async function keepApprovals(
  {
    subscriberPool,
    promotion,
  }: Pick<Database, 'subscriberPool'> & { promotion: Pick<Database['promotion'], 'isStandby'> },
  { approvalLimits }: Pick<Config, 'approvalLimits'>,
): Promise<void> {
  const others = await keepApprovalSettings(subscriberPool, formatApprovals(approvalLimits), promotion.isStandby)
  if (others === null) return
  throw new Error(
    `APPROVALS and APPROVAL_LIMITS are not those of the other instances, ${others}: set the same, or stop all instances ` +
      'before you change them (after a kill it takes half a minute until they count as stopped).',
  )
}
