import { Type } from '@sinclair/typebox'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { revokedStaffSessions } from './presenters.ts'
import { revokeStaffSessions } from './revoke-staff-sessions.ts'

const RevokeStaffSessions = inputSchema(Type.Object({ sub: Type.String({ minLength: 1, maxLength: 100 }) }))

/** The verb of staff. */
export const staffVerbs = {
  revokeStaffSessions: registerVerb('revoke-staff-sessions', RevokeStaffSessions, revokeStaffSessions, {
    body: (session) => ({ data: revokedStaffSessions(session) }),
  }),
}
