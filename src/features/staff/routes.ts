import { Type } from '@sinclair/typebox'
import { dataOf } from '../../../schema/common.ts'
import { RevokedStaffSessions, StaffParams } from '../../../schema/users.ts'
import { plainStaffName } from '../../http/auth/caller.ts'
import { InvalidPathParam } from '../../http/errors/http-error.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { revokeStaffSessions, type StaffSession } from './staff-sessions.ts'

/** Sessions of staff: operators and finance. */
export const staffSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: staffVerbs, adminRoutes: staffAdminRoutes }),
}

/** Admin route for the sessions of staff. */
function staffAdminRoutes(app: App, { execute, staffSessions }: Services): void {
  app.post(
    '/staff/:sub/revoke-sessions',
    {
      schema: {
        operationId: 'revokeStaffSessions',
        summary: "End a staff member's sessions: tokens issued before this second answer 440",
        description: 'API and console, on every instance within a second.',
        tags: ['operators'],
        params: StaffParams,
        refusals: staffVerbs.revokeStaffSessions.refusals,
        response: { 200: dataOf(RevokedStaffSessions) },
      },
      // Before the response is sent: from then on this instance refuses the old tokens.
      onSend: ({ params }, _reply, _payload, done) => {
        const sub = plainStaffName(params.sub)
        if (sub !== null) staffSessions.invalidate(sub)
        done()
      },
    },
    (request, reply) => {
      const sub = plainStaffName(request.params.sub)
      if (sub === null) throw new InvalidPathParam()
      return execute(request, reply, staffVerbs.revokeStaffSessions, { sub })
    },
  )
}

const RevokeStaffSessions = inputSchema(Type.Object({ sub: Type.String({ minLength: 1, maxLength: 100 }) }))

/** The verb of staff. */
const staffVerbs = {
  revokeStaffSessions: registerVerb('revoke-staff-sessions', RevokeStaffSessions, revokeStaffSessions, {
    body: (session) => ({ data: revokedStaffSessions(session) }),
  }),
}

export const revokedStaffSessions = ({ sub, revoked_before }: StaffSession): RevokedStaffSessions => ({
  sub,
  sessions_revoked_before: isoMicros(revoked_before * 1_000_000),
})
