import type { App } from '../../../features/services.ts'
import { isErased } from '../../../features/users/user.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { type Cell, codeCell, formatCount, statusCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { userPath } from '../../frame/cells/links.ts'
import { type PictureSources, pictureCell } from '../../frame/cells/picture-cell.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { partTable, type Table } from '../../lists/list.ts'
import { readLedgerEnds } from '../../lists/page-end.ts'
import { personName } from '../person.ts'
import { activationsSection, validUntilCell } from '../sections/activations.ts'
import { bagSection } from '../sections/bag.ts'
import { cardsSection } from '../sections/cards.ts'
import { gamesSection } from '../sections/games.ts'
import { historySection } from '../sections/history.ts'
import { notificationsSection } from '../sections/notifications.ts'
import { roomsSection } from '../sections/rooms.ts'
import { withdrawalsSection } from '../sections/withdrawals.ts'
import { balancesTable, explainHolds, type HoldsExplained } from './balance-tables.ts'
import { readBalances } from './balances.ts'
import { type DeviceRow, devicesOf } from './devices.ts'
import { findUser, type User } from './find-user.ts'
import { type RunningPrivilege, readPrivilege } from './privilege.ts'

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

type Facts = readonly (readonly [string, Cell])[]

interface UserData {
  readonly id: number
  readonly name: string
  readonly isErased: boolean
  readonly path: string
  readonly position: number
  readonly profile: Facts
  readonly countries: Table
  readonly balances: Table
  readonly holds: readonly HoldsExplained[]
  readonly privilege: Facts | null
  readonly sections: readonly { readonly path: string; readonly title: string; readonly table: Table }[]
  readonly sessions: Facts
  readonly devices: Table
}

const template = defineTemplate<UserData>('/users/user/user-page.eta')

/** /console/users/{id}: everything about a user, in bounded sections, each with a page of its own that has all of it. */
export function addUserPage(scope: App, services: ConsoleServices): void {
  scope.get('/users/:id', async (request, reply) => {
    const { db } = await services.chooseReportDatabase()
    const [user, { indexed }] = await Promise.all([findUser(db, request.params), readLedgerEnds(db)])
    const id = user.user_id
    const [balances, privilege, devices] = await Promise.all([
      readBalances(db, id),
      readPrivilege(db, id),
      devicesOf(db, id),
    ])
    const { position } = balances
    const name = personName(user)
    const newest = sections.map(async ({ path, title, readNewest }) => ({
      path,
      title,
      table: await readNewest(request, db, { head: position, indexed }),
    }))
    return sendPage(request, reply, template, {
      title: `${name}, user ${id}`,
      data: {
        id,
        name,
        isErased: isErased(user),
        path: userPath(id),
        position,
        profile: profileFacts(services, user),
        countries: countriesTable(user),
        balances: balancesTable(id, balances),
        holds: explainHolds(id, name, balances),
        privilege: privilege === undefined ? null : privilegeFacts(privilege),
        sections: await Promise.all(newest),
        sessions: sessionFacts(user, devices),
        devices: devicesTable(devices),
      },
    })
  })
  for (const section of sections) section.addPages(scope, services)
}

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
  partTable({
    label: 'Countries served',
    columns: [
      { title: 'Country', cell: ({ name }: User['countries'][number]) => textCell(name) },
      { title: 'Id', cell: ({ country_id }) => codeCell(String(country_id)) },
      {
        title: 'Diamonds for a dollar',
        isNumber: true,
        cell: ({ diamonds_per_dollar: rate }) => ({ kind: 'number', text: formatCount(rate), value: rate }),
      },
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
  partTable({
    label: 'Devices',
    columns: [
      { title: 'Platform', cell: ({ platform }: DeviceRow) => textCell(platform) },
      { title: 'Language', cell: ({ language }) => textCell(language) },
      { title: 'Registered', cell: ({ registered_at }) => timeCell(registered_at) },
    ],
    rows: devices,
    empty: 'No device is registered. The app registers one when the user allows notifications.',
  })
