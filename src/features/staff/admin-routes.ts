import { dataOf } from '../../../schema/common.ts'
import { RevokedStaffSessions, StaffParams } from '../../../schema/operator.ts'
import { plainStaffName } from '../../http/auth/caller.ts'
import { InvalidPathParam } from '../../http/errors/http-error.ts'
import type { App, Services } from '../services.ts'
import { staffVerbs } from './verbs.ts'

/** Admin route for the sessions of staff. */
export function staffAdminRoutes(app: App, { execute, staffSessions }: Services): void {
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
