import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { listStaffActs } from '../../audit/reports/events/staff-acts.ts'
import { headOf } from '../../db/head.ts'
import { plainStaffName } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import type { ConsolePages } from '../console-services.ts'
import { addReviewedAction } from '../layout/action.ts'
import { textCell, timeCell } from '../layout/cells.ts'
import { addressWith, eventPath } from '../layout/links.ts'
import type { Section } from '../layout/page.ts'
import { textFilter } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { staffOf } from '../session/session-check.ts'
import { actionList } from './actions.ts'

const Sub = Text(100)

/** /console/staff: who did what, and ending somebody's sessions. */
export const staffPages: ConsolePages = (scope, services) => {
  const { chooseReportDatabase, vault } = services
  addListPage(scope, services, {
    path: '/staff',
    title: 'Staff',
    lead: [
      'What members of staff did on the ledger, newest first, with the reason they gave. What writes no event is not here: names, uids and pictures of users (their pages say who changed them last), verifications and checkpoints (under ',
      { href: '/console/verify', text: 'Verify' },
      '), closings that are not recorded yet (under ',
      { href: '/console/reports', text: 'Reports' },
      '), and exports.',
    ],
    list: actionList(vault),
    filters: [
      textFilter('sub', 'Member of staff', 100),
      textFilter('from', 'From (day, time or position)', 40),
      textFilter('to', 'To (empty: until now)', 40),
    ],
    extras: (request) => ({
      after: [staffOf(request).role === 'operator' ? endSection(Object(request.query).sub) : null],
    }),
  })

  addReviewedAction(scope, services, {
    path: '/staff/end-sessions',
    query: Type.Object({ sub: Sub }),
    review: async (request, query) => {
      const sub = nameIn(query)
      const { db } = await chooseReportDatabase()
      const [session, { acts }] = await Promise.all([
        db.selectFrom('staff_sessions').select('revoked_before').where('sub', '=', sub).executeTakeFirst(),
        listStaffActs(db, { sub, limit: 1, upTo: await headOf(db) }),
      ])
      const last = acts[0]?.entry
      const isOwn = sub === staffOf(request).sub
      return {
        title: `End the sessions of ${sub}`,
        heading: ['End the sessions of ', textCell(sub)],
        sections: [
          {
            lead: 'All tokens that were issued before now stop working, here and on every page. Staff who still have an account of the login service can sign in again with a new one.',
            warning: isOwn ? 'These are your own sessions: you will have to sign in again.' : null,
          },
          {
            facts: [
              ['Member of staff', textCell(sub, addressWith('/console/staff', { sub }))],
              ['Last action', last === undefined ? textCell('none') : timeCell(last.at, eventPath(last.position))],
              [
                'Tokens that work now',
                textCell(session === undefined ? 'all that have not expired' : 'those issued after the last ending'),
              ],
              ['Sessions last ended', timeCell(session === undefined ? null : session.revoked_before * 1_000_000)],
              ['Tokens that work then', textCell('only those issued after this')],
            ],
            form: {
              method: 'post',
              action: '/console/staff/end-sessions',
              hidden: { sub },
              button: 'End these sessions',
              look: 'danger',
            },
          },
          { text: [{ href: '/console/staff', text: 'Back without a change' }] },
        ],
      }
    },
    fields: { sub: Sub },
    action: (request, form) => ({
      method: 'POST',
      path: `/staff/${encodeURIComponent(nameIn(form))}/revoke-sessions`,
      back: addressWith('/console/staff', { sub: staffOf(request).sub }),
      done: 'staff-sessions-ended',
    }),
  })
}

/** The form that leads to the review: for the member of staff whose actions are shown. */
const endSection = (sub = ''): Section => ({
  title: "End somebody's sessions",
  form: {
    method: 'get',
    action: '/console/staff/end-sessions',
    idPrefix: 'end',
    fields: [{ name: 'sub', label: 'Member of staff', control: { kind: 'line', maxLength: 100, isRequired: true } }],
    values: { sub },
    button: 'Review',
    look: 'quiet',
  },
})

/** The member of staff whom a form names; 404 for what can name nobody. */
function nameIn({ sub }: { readonly sub: string }): string {
  const name = plainStaffName(sub)
  if (name === null) throw notFound()
  return name
}
