import { keyOf } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { type StaffSession, staffSessions } from './staff.ts'

export interface RevokeStaffSessions {
  readonly sub: string
}

/**
 * Expires all tokens of a member of staff that were issued before this second. Tokens of the same second stay valid: they
 * may be from the next login. Staff are not registered here, so an unknown `sub` is revoked as well. Never refused.
 */
export const revokeStaffSessions: Verb<RevokeStaffSessions, StaffSession> = {
  refusals: [],
  reads: ({ sub }) => [keyOf(staffSessions, sub)],

  decide(_state, { sub }, { now }) {
    return [{ type: 'staff-sessions-revoked', data: { sub, before: Math.floor(now / 1_000_000) }, movements: [] }]
  },

  result(state, { sub }) {
    const session = state.get(staffSessions, sub)
    if (session === undefined) throw new Error(`no session of ${sub} was revoked`)
    return session
  },
}
