import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, keyOf, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'

/** A member of staff whose tokens were revoked; others have no row. */
export const staffSessions = projection('staff_sessions', {
  sub: text(),
  /** Tokens issued before this second are expired. */
  revoked_before: integer(),
})

export type StaffSession = RowOf<typeof staffSessions>

export const evolveStaff: Evolver = {
  'staff-sessions-revoked': (state, { data: { sub, before } }) =>
    state.set(staffSessions, sub, { sub, revoked_before: before }),
}

interface RevokeStaffSessions {
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
