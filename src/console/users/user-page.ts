import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { isErased } from '../../features/users/user.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { ConsoleServices } from '../console-services.ts'
import {
  type Cell,
  codeCell,
  type Facts,
  formatCount,
  type PictureSources,
  pictureCell,
  statusCell,
  textCell,
  timeCell,
} from '../layout/cells.ts'
import { addressWith, eventPath, userPath } from '../layout/links.ts'
import { type Section, sendSections } from '../layout/page.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { readLedgerEnds } from '../lists/period.ts'
import { staffOf } from '../session/session-check.ts'
import { userActions } from './action-pages.ts'
import { balancesTable, explainHolds, readBalances } from './balances.ts'
import { findUser, personName, type User } from './find-user.ts'
import { activationsSection, bagSection, cardsSection, roomsSection, validUntilCell } from './user-belongings.ts'
import { gamesSection, historySection, notificationsSection, withdrawalsSection } from './user-history.ts'

/** In the order of the page. */
const sections = [
  historySection,
  withdrawalsSection,
  cardsSection,
  activationsSection,
  bagSection,
  roomsSection,
  gamesSection,
  notificationsSection,
] as const

/** /console/users/{id}: everything about a user, in bounded sections, each with a page of its own that has all of it. */
export function addUserPage(scope: App, services: ConsoleServices): void {
  scope.get('/users/:id', async (request, reply) => {
    const { db } = await services.chooseReportDatabase()
    const [user, { indexed }] = await Promise.all([findUser(db, request), readLedgerEnds(db)])
    const id = user.user_id
    const [balances, privilege, devices] = await Promise.all([
      readBalances(db, id),
      readPrivilege(db, id),
      devicesOf(db, id),
    ])
    const { position } = balances
    const name = personName(user)
    const newest = sections.map(
      async ({ path, title, readNewest }): Promise<readonly Section[]> => [
        { title, table: await readNewest(request, db, { head: position, indexed }) },
        { text: [{ href: `${userPath(id)}/${path}`, text: `All ${title.toLowerCase()}` }] },
      ],
    )
    return sendSections(request, reply, {
      title: `${name}, user ${id}`,
      heading: [textCell(name)],
      isLong: true,
      sections: [
        { note: isErased(user) ? ERASED : null },
        { facts: profileFacts(services, user), table: user.countries.length === 0 ? null : countriesTable(user) },
        { actions: [...(staffOf(request).role === 'operator' ? actionsOn(id) : []), allEvents(id)] },
        { title: 'Balances', table: balancesTable(id, balances) },
        {
          hint: [
            'As of event ',
            textCell(String(position), eventPath(position)),
            '. What is on hold is promised to a pending withdrawal: it has not moved yet, and cannot be spent.',
          ],
        },
        ...explainHolds(id, name, balances).map(
          ({ question, table }) => ({ title: [textCell(question)], level: 3, table }) as const,
        ),
        {
          title: 'Privilege',
          ...(privilege === undefined
            ? { empty: 'No privilege yet: it begins when a stored card is activated.' }
            : { facts: privilegeFacts(privilege) }),
        },
        ...(await Promise.all(newest)).flat(),
        { title: 'Sessions and devices', facts: sessionFacts(user, devices), table: devicesTable(devices) },
      ],
    })
  })
  for (const section of sections) section.addPage(scope, services)
}

const ERASED =
  'This person was erased: no name, picture or bank details are left. What happened stays on the ledger under the id.'

const actionsOn = (id: number) =>
  userActions.map(({ path, title }) => ({ href: `${userPath(id)}/${path}`, text: title }))

const allEvents = (id: number) => ({ href: addressWith('/console/events', { user: id }), text: 'All events' })

const yesOrNo = (is: boolean): Cell => (is ? statusCell('yes', 'good') : textCell('no'))

const profileFacts = (sources: PictureSources, user: User): Facts => [
  ['Id', codeCell(String(user.user_id))],
  ['Uid', codeCell(user.uid)],
  ['Avatar', pictureCell(sources, user.avatar, `Avatar of ${personName(user)}`)],
  ['Since', timeCell(user.created_at)],
  ['Charging agent', yesOrNo(user.charging_agent)],
  ['Receives withdrawal requests', yesOrNo(user.allow_receive_withdraw_requests)],
  ['Business manager', yesOrNo(user.business_manager)],
  ['Profile last changed', timeCell(user.updated_at)],
  ['Changed by', codeCell(user.updated_by)],
]

const countriesTable = ({ countries }: User): Table =>
  partTable<User['countries'][number]>({
    label: 'Countries served',
    columns: [
      part('Country', ({ name }) => textCell(name)),
      part('Id', ({ country_id }) => codeCell(String(country_id))),
      numberPart('Diamonds for a dollar', ({ diamonds_per_dollar: rate }) => ({
        kind: 'number',
        text: formatCount(rate),
        value: rate,
      })),
    ],
    rows: countries,
    empty: 'None.',
  })

const privilegeFacts = ({ name, privilege_package_id, rank, valid_until, is_active }: RunningPrivilege): Facts => [
  ['Package', textCell(name)],
  ['Package id', codeCell(String(privilege_package_id))],
  ['Rank', codeCell(String(rank))],
  ['State', is_active ? statusCell('active', 'good') : statusCell('expired')],
  ['Valid until', validUntilCell(valid_until)],
]

const sessionFacts = ({ sessions_revoked_before: before }: User, devices: readonly DeviceRow[]): Facts => [
  ['Tokens are refused that were issued before', timeCell(before === 0 ? null : before * 1_000_000)],
  ['Devices registered for notifications', codeCell(String(devices.length))],
]

const devicesTable = (devices: readonly DeviceRow[]): Table =>
  partTable<DeviceRow>({
    label: 'Devices',
    columns: [
      part('Platform', ({ platform }) => textCell(platform)),
      part('Language', ({ language }) => textCell(language)),
      part('Registered', ({ registered_at }) => timeCell(registered_at)),
    ],
    rows: devices,
    empty: 'No device is registered. The app registers one when the user allows notifications.',
  })

/** A user's last privilege. */
interface RunningPrivilege {
  readonly privilege_package_id: number
  readonly name: string
  readonly rank: number
  /** Seconds since 1970. */
  readonly valid_until: number
  /** By the clock that commands go by: the later of the database's and the ledger's last event. */
  readonly is_active: boolean
}

/** Active or expired; undefined for a user who never had one. */
async function readPrivilege(db: Kysely<Tables>, user: number): Promise<RunningPrivilege | undefined> {
  const { rows } = await sql<RunningPrivilege>`
    select r.privilege_package_id, k.name, r.rank, r.valid_until,
           r.valid_until > (select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head) as is_active
    from privileges r join privilege_packages k on k.privilege_package_id = r.privilege_package_id
    where r.user_id = ${user}`.execute(db)
  return rows[0]
}

/** A device to which notifications are pushed. Its token is personal, and shown to nobody. */
interface DeviceRow {
  readonly platform: string
  readonly language: string
  readonly registered_at: Micros
}

/** More than a user can have. */
const MAX_SHOWN = 50

const devicesOf = (db: Kysely<Tables>, user: number): Promise<DeviceRow[]> =>
  db
    .selectFrom('devices')
    .select(['platform', 'language', micros('registered_at').as('registered_at')])
    .where('user_id', '=', user)
    .orderBy('registered_at', 'desc')
    .limit(MAX_SHOWN)
    .execute()
