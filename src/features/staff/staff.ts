import { integer, text } from '../../ledger/rules/columns.ts'
import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection, type RowOf } from '../../ledger/rules/projection.ts'

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
