import { type Static, Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { listStaffActs } from '../../audit/reports/events/staff-acts.ts'
import { headOf } from '../../db/head.ts'
import { plainStaffName } from '../../http/auth/staff-name.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'
import type { ConsolePages } from '../console-services.ts'
import { act, actFields } from '../frame/act.ts'
import { addressWith } from '../frame/address.ts'
import { type Cell, textCell, timeCell } from '../frame/cells/cells.ts'
import { eventPath } from '../frame/cells/links.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { requireOperator } from '../session/require-operator.ts'
import { staffOf } from '../session/session-check.ts'
import { actList } from './act-list.ts'

const listTemplate = defineTemplate<{
  readonly query: Static<ReturnType<typeof actList>['filters']>
  readonly table: Table
}>('/staff/staff.eta')

const reviewTemplate = defineTemplate<{
  readonly sub: string
  readonly isOwn: boolean
  readonly facts: readonly (readonly [string, Cell])[]
}>('/staff/end-sessions.eta')

const Sub = Text(100)

/** /console/staff: who did what, and ending somebody's sessions. */
export const staffPages: ConsolePages = (scope, services) => {
  const list = actList(services.vault)

  scope.get('/staff', { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const { table } = await readTable(list, request, services, '/console/staff')
    return sendPage(request, reply, listTemplate, { title: 'Staff', data: { query: request.query, table } })
  })
  addExports(scope, '/staff', list, services)

  scope.get('/staff/end-sessions', { schema: { querystring: Type.Object({ sub: Sub }) } }, async (request, reply) => {
    requireOperator(request)
    const sub = nameIn(request.query)
    const { db } = await services.chooseReportDatabase()
    const [session, { acts }] = await Promise.all([
      db.selectFrom('staff_sessions').select('revoked_before').where('sub', '=', sub).executeTakeFirst(),
      listStaffActs(db, { sub, limit: 1, upTo: await headOf(db) }),
    ])
    const last = acts[0]?.entry
    return sendPage(request, reply, reviewTemplate, {
      title: `End the sessions of ${sub}`,
      data: {
        sub,
        isOwn: sub === staffOf(request).sub,
        facts: [
          ['Member of staff', textCell(sub, addressWith('/console/staff', { sub }))],
          ['Last act', last === undefined ? textCell('none') : timeCell(last.at, eventPath(last.position))],
          [
            'Tokens that work now',
            textCell(session === undefined ? 'all that have not expired' : 'those issued after the last ending'),
          ],
          ['Sessions last ended', timeCell(session === undefined ? null : session.revoked_before * 1_000_000)],
          ['Tokens that work then', textCell('only those issued after this')],
        ],
      },
    })
  })

  scope.post('/staff/end-sessions', { schema: { body: Type.Object({ ...actFields, sub: Sub }) } }, (request, reply) => {
    const { key } = request.body
    const sub = nameIn(request.body)
    return act(request, reply, services, {
      method: 'POST',
      path: `/staff/${encodeURIComponent(sub)}/revoke-sessions`,
      key,
      back: addressWith('/console/staff', { sub: staffOf(request).sub }),
      done: 'staff-sessions-ended',
    })
  })
}

/** The member of staff whom a form names; 404 for what can name nobody. */
function nameIn({ sub }: { readonly sub: string }): string {
  const name = plainStaffName(sub)
  if (name === null) throw new HttpError(404, 'not_found', httpMessages.not_found)
  return name
}
