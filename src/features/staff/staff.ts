import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, projection, type RowOf, text } from '../../ledger/rules/projection.ts'

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
