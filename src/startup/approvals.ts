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
 * Keeps the limits of approvals in the database, so that command lines obey them, too. They are changed by restarting one
 * instance after the other: until the last one, staff can move more at the instances with the higher limits.
 */
export async function keepApprovals(
  {
    subscriberPool,
    promotion,
  }: Pick<Database, 'subscriberPool'> & { promotion: Pick<Database['promotion'], 'isStandby'> },
  { approvalLimits }: Pick<Config, 'approvalLimits'>,
  log: Log,
): Promise<void> {
  if (promotion.isStandby) return
  const settings = formatApprovals(approvalLimits)
  const former = await keepApprovalSettings(subscriberPool, settings)
  if (former !== null) log.warn({ settings, former }, 'instances with other limits of approvals run: restart them, too')
}
