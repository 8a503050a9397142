import type { RevokedStaffSessions } from '../../../schema/operator.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { staffSessions } from './staff.ts'

export interface RevokeStaffSessions {
  readonly sub: string
}

/**
 * Ends all tokens of a member of staff that were issued before this second; one issued within it may be the next
 * login's. Nobody announces staff, so a `sub` that was never seen is revoked as well: its tokens may come later.
 */
export const revokeStaffSessions: Verb<RevokeStaffSessions, RevokedStaffSessions> = {
  reads: ({ sub }) => [keyOf(staffSessions, sub)],

  decide(_state, { sub }, { now }) {
    return [{ type: 'staff-sessions-revoked', data: { sub, before: Math.floor(now / 1_000_000) }, movements: [] }]
  },

  result(state, { sub }) {
    const before = state.get(staffSessions, sub)?.revoked_before ?? 0
    return { sub, sessions_revoked_before: isoMicros(before * 1_000_000) }
  },
}
