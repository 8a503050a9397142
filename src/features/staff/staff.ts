import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection } from '../../ledger/rules/projection.ts'

/** A member of staff whose tokens were revoked; others have no row. */
export interface StaffSession {
  readonly sub: string
  /** Tokens issued before this second are expired. */
  readonly revoked_before: number
}

export const staffSessions = projection<StaffSession>('staff_sessions')

export const evolveStaff: Evolver = {
  'staff-sessions-revoked': (state, { data: { sub, before } }) =>
    state.set(staffSessions, sub, { sub, revoked_before: before }),
}
