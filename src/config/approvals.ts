import { Value } from '@sinclair/typebox/value'
import { limitNames } from '../../schema/common.ts'
import { ApprovalLimits } from '../../schema/proposals.ts'
import type { Variables } from './environment.ts'

/** What APPROVALS and APPROVAL_LIMITS say; null for what is not given. */
export interface GivenApprovals {
  readonly isOn: boolean | null
  readonly limits: ApprovalLimits | null
}

/** Adds to `faults`, each of which begins with the name of its variable. */
export function readApprovals({ APPROVALS, APPROVAL_LIMITS }: Variables, faults: string[]): GivenApprovals {
  if (APPROVALS && APPROVALS !== 'on' && APPROVALS !== 'off') faults.push('APPROVALS must be on or off')
  const limits = APPROVAL_LIMITS ? parseLimits(APPROVAL_LIMITS) : null
  if (APPROVAL_LIMITS && limits === null) faults.push(`APPROVAL_LIMITS must be ${LIMITS_FORM}`)
  if (APPROVALS === 'on' && !APPROVAL_LIMITS) faults.push('APPROVAL_LIMITS must be given when APPROVALS is on')
  return { isOn: APPROVALS ? APPROVALS === 'on' : null, limits }
}

export const LIMITS_FORM = `a JSON object such as {"diamonds":100000,"cards":5} of integers from 0 to 2^53-1, by ${limitNames.join(', ')}`

/** Null for what is no object of limits. */
export function parseLimits(text: string): ApprovalLimits | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  return Value.Check(ApprovalLimits, parsed) ? parsed : null
}

/** The settings as an environment has them; the same text for limits that mean the same. */
export function formatApprovals(limits: ApprovalLimits | null): string {
  if (limits === null) return 'APPROVALS=off'
  const given = limitNames.filter((name) => (limits[name] ?? 0) > 0).map((name) => [name, limits[name]])
  return `APPROVALS=on APPROVAL_LIMITS='${JSON.stringify(Object.fromEntries(given))}'`
}
