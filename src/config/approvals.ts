import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { limitNames } from '../../schema/account.ts'
import { Amount } from '../../schema/common.ts'
import type { ApprovalLimits, LimitName } from '../ledger/rules/covered-verb.ts'

const Limits = Type.Record(Type.String(), Amount)

const isLimitName = (name: string): name is LimitName => limitNames.some((known) => known === name)

/**
 * The limits of APPROVAL_LIMITS where APPROVALS is `on`; null where it is off. Adds to `faults`, each of which begins with
 * the name of its variable.
 */
export function readApprovals(
  { APPROVALS, APPROVAL_LIMITS }: Readonly<Record<string, string | undefined>>,
  faults: string[],
): ApprovalLimits | null {
  if (APPROVALS && APPROVALS !== 'on' && APPROVALS !== 'off') faults.push('APPROVALS must be on or off')
  const limits = APPROVAL_LIMITS ? parseLimits(APPROVAL_LIMITS) : {}
  if (limits === null) {
    faults.push(
      `APPROVAL_LIMITS must be a JSON object such as {"diamonds":100000,"cards":5} of integers from 0 to 2^53-1, by ${limitNames.join(', ')}`,
    )
  }
  if (APPROVALS !== 'on') return null
  if (!APPROVAL_LIMITS) faults.push('APPROVAL_LIMITS must be given when APPROVALS is on')
  return limits
}

/** The settings as an environment has them; the same text for limits that mean the same. */
export function formatApprovals(limits: ApprovalLimits | null): string {
  if (limits === null) return 'APPROVALS=off'
  const given = limitNames.filter((name) => (limits[name] ?? 0) > 0).map((name) => [name, limits[name]])
  return `APPROVALS=on APPROVAL_LIMITS='${JSON.stringify(Object.fromEntries(given))}'`
}

function parseLimits(text: string): ApprovalLimits | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  if (!Value.Check(Limits, parsed)) return null
  const limits: Partial<Record<LimitName, number>> = {}
  for (const [name, limit] of Object.entries(parsed)) {
    if (!isLimitName(name)) return null
    limits[name] = limit
  }
  return Object.freeze(limits)
}
