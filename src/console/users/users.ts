import { Type } from '@sinclair/typebox'
import { Text } from '../../../schema/common.ts'
import { allCountries } from '../../features/users/reads.ts'
import { isErased } from '../../features/users/user.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { ConsolePages } from '../console-services.ts'
import { codeCell, statusCell, textCell, timeCell } from '../frame/cells/cells.ts'
import { userPath } from '../frame/cells/links.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { type List, querySchemaOf, readTable, type Table } from '../lists/list.ts'
import { addActPages } from './acts/act-pages.ts'
import { personName } from './person.ts'
import { addBalancePage } from './user/balance-page.ts'
import { roleNames } from './user/find-user.ts'
import { addUserPage } from './user/user-page.ts'
import { findUsers, type ListedUser } from './users-query.ts'

const MAX_COUNTRY_DIGITS = 15

const filters = Type.Object({
  q: Type.Optional(Text(64)),
  role: Type.Optional(Type.Union([Type.Literal('charging_agent'), Type.Literal('business_manager')])),
  country: Type.Optional(Type.String({ pattern: `^[1-9][0-9]{0,${MAX_COUNTRY_DIGITS - 1}}$` })),
})

const users: List<typeof filters, ListedUser> = {
  label: 'Users',
  filters,
  isOfNow: true,
  empty: 'No user fits these filters. Users appear here once they are announced by PUT or POST /admin/v1/users.',
  columns: [
    {
      name: 'id',
      title: 'Id',
      isNumber: true,
      cell: ({ user_id }) => ({ ...codeCell(String(user_id), userPath(user_id)), value: user_id }),
    },
    {
      name: 'name',
      title: 'Name',
      cell: (user) =>
        isErased(user)
          ? statusCell('erased', 'neutral', userPath(user.user_id))
          : textCell(personName(user), userPath(user.user_id)),
    },
    { name: 'uid', title: 'Uid', cell: ({ uid }) => codeCell(uid) },
    { name: 'roles', title: 'Roles', cell: (user) => textCell(roleNames(user)) },
    { name: 'created_at', title: 'Since', cell: ({ created_at }) => timeCell(created_at) },
  ],
  read: async ({ query: { q, role, country }, db, at, cursor, limit }) => {
    const rows = await findUsers(db, {
      q,
      role,
      country: country === undefined ? undefined : Number(country),
      at,
      cursor: cursor === null ? null : decodeCursor(cursor, 2),
      limit: limit + 1,
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const next = rows.length > limit && last !== undefined ? encodeCursor([last.created_at, last.user_id]) : null
    return { rows: page, next }
  },
}

interface UsersData {
  readonly query: { readonly q?: string; readonly role?: string; readonly country?: string }
  readonly countries: readonly { readonly country_id: number; readonly name: string }[]
  readonly table: Table
}

const template = defineTemplate<UsersData>('/users/users.eta')

/** /console/users: finding users, one user with everything that is known of them, and acts on them. */
export const userPages: ConsolePages = (scope, services) => {
  scope.get('/users', { schema: { querystring: querySchemaOf(users) } }, async (request, reply) => {
    const { q, role, country } = request.query
    const { db } = await services.chooseReportDatabase()
    const [{ table }, countries] = await Promise.all([
      readTable(users, request, services, '/console/users'),
      allCountries(db),
    ])
    const query = {
      ...(q === undefined ? {} : { q }),
      ...(role === undefined ? {} : { role }),
      ...(country === undefined ? {} : { country }),
    }
    return sendPage(request, reply, template, { title: 'Users', data: { query, countries, table } })
  })
  addExports(scope, '/users', users, services)
  addUserPage(scope, services)
  addBalancePage(scope, services)
  addActPages(scope, services)
}
