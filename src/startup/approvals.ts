import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'

/** Says that nobody checks what staff move. */
export function warnWithoutApprovals({ approvalLimits }: Pick<Config, 'approvalLimits'>, log: Log): void {
  if (approvalLimits === null) log.warn({}, 'approvals are off: staff move value alone (APPROVALS=on limits it)')
}
