import { Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import { isNameWord, Text } from '../../../schema/common.ts'
import { beginsWith, isAfterCursor, isWord, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { allCountries } from '../../features/users/reads.ts'
import { isErased } from '../../features/users/user.ts'
import { decodeCursor } from '../../http/pages.ts'
import { parseId } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { ConsolePages } from '../console-services.ts'
import { codeCell, statusCell, textCell, timeCell } from '../layout/cells.ts'
import { idCell, userPath } from '../layout/links.ts'
import { choiceFilter, column, type List, numberColumn, pageOfRows, textFilter } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { addActionPages } from './action-pages.ts'
import { addBalancePage } from './balances.ts'
import { type Person, personName, roleNames } from './find-user.ts'
import { addUserPage } from './user-page.ts'

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
    numberColumn('id', 'Id', ({ user_id }) => ({ ...idCell('user', user_id), value: user_id })),
    column('name', 'Name', (user) =>
      isErased(user)
        ? statusCell('erased', 'neutral', userPath(user.user_id))
        : textCell(personName(user), userPath(user.user_id)),
    ),
    column('uid', 'Uid', ({ uid }) => codeCell(uid)),
    column('roles', 'Roles', (user) => textCell(roleNames(user))),
    column('created_at', 'Since', ({ created_at }) => timeCell(created_at)),
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
    return pageOfRows(rows, limit, (user) => [user.created_at, user.user_id])
  },
}

/** /console/users: finding users, one user with everything that is known of them, and actions on them. */
export const userPages: ConsolePages = (scope, services) => {
  addListPage(scope, services, {
    path: '/users',
    list: users,
    button: 'Find',
    extras: async () => {
      const { db } = await services.chooseReportDatabase()
      const countries = (await allCountries(db)).map(({ country_id, name }) => [String(country_id), name] as const)
      return {
        filters: [
          textFilter('q', 'Id, uid or beginning of a name', 64),
          choiceFilter('role', 'Role', [
            ['', 'All'],
            ['charging_agent', 'Charging agents who receive requests'],
            ['business_manager', 'Business managers'],
          ]),
          choiceFilter('country', 'Agents who serve', [['', 'All'], ...countries]),
        ],
      }
    },
  })
  addUserPage(scope, services)
  addBalancePage(scope, services)
  addActionPages(scope, services)
}

/** A role that has an index of its holders. */
type ListedRole = 'charging_agent' | 'business_manager'

interface UsersQuery {
  /** An id, a uid, or the beginning of a name. */
  readonly q?: string | undefined
  readonly role?: ListedRole | undefined
  /** Only charging agents who serve this country. */
  readonly country?: number | undefined
  /** Nobody who was announced after the event at this position. */
  readonly at: number
  /** [created_at, user_id] of the last user of the page before. */
  readonly cursor: readonly number[] | null
  readonly limit: number
}

interface ListedUser extends Person {
  readonly charging_agent: boolean
  readonly allow_receive_withdraw_requests: boolean
  readonly business_manager: boolean
  readonly created_at: Micros
}

// The predicates of the partial indexes.
const isRole = {
  charging_agent: sql<boolean>`u.charging_agent and u.allow_receive_withdraw_requests`,
  business_manager: sql<boolean>`u.business_manager`,
}

/** Users, newest first. */
function findUsers(db: Kysely<Tables>, { q, role, country, at, cursor, limit }: UsersQuery): Promise<ListedUser[]> {
  const announced = sql<string>`coalesce((select e.at from ledger_events e where e.position = ${at}), 'epoch')`
  return db
    .selectFrom('user_profiles as p')
    .innerJoin('users as u', 'u.user_id', 'p.user_id')
    .select(['p.user_id', 'p.uid', 'p.name', 'p.avatar', micros('p.created_at').as('created_at')])
    .select(['u.charging_agent', 'u.allow_receive_withdraw_requests', 'u.business_manager'])
    .where('p.created_at', '<=', announced)
    .$if(q !== undefined, (query) => query.where(isMeant(q ?? '')))
    .$if(role !== undefined, (query) => query.where(isRole[role ?? 'business_manager']))
    .$if(country !== undefined, (query) =>
      query
        .where(isRole.charging_agent)
        .where(sql<boolean>`u.agency_countries::jsonb @> ${JSON.stringify([{ country_id: country }])}::jsonb`),
    )
    .$if(cursor !== null, (query) => query.where(isAfterCursor('p.created_at', 'p.user_id', cursor ?? [])))
    .orderBy('p.created_at', 'desc')
    .orderBy('p.user_id', 'desc')
    .limit(limit)
    .execute()
}

/** Whether a user may be meant by a word: each part is served by an index. */
function isMeant(q: string) {
  const word = q.trim()
  const id = parseId(word)
  return sql<boolean>`(${sql.join(
    [
      isWord('p.uid_folded', word),
      ...(id === null ? [] : [sql`p.user_id = ${id}`]),
      ...(isNameWord(word) ? [beginsWith('p.name_folded', word)] : []),
    ],
    sql` or `,
  )})`
}
