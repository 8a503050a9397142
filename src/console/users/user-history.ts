import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { WithdrawalStatus } from '../../../schema/agency-events.ts'
import { currencies as allCurrencies, CurrencyName } from '../../../schema/common.ts'
import type { EventData, RouletteEntry } from '../../../schema/events.ts'
import type { InboxNotification } from '../../../schema/notifications.ts'
import { isAnyOf, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { notificationMapper } from '../../domain.ts'
import { inboxLookup, inboxNotification } from '../../features/notifications/reads.ts'
import { packageNames } from '../../features/privilege/reads.ts'
import { userNames } from '../../features/users/reads.ts'
import { decodeCursor } from '../../http/pages.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import { type NumberedEntry, readAllLatestEntries } from '../../ledger/indexes/latest-entries.ts'
import { account, currencyOf } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { notificationsOf } from '../../notifications/event-notification.ts'
import { findNames } from '../../notifications/notifier.ts'
import { readNewestOf } from '../events/stored-events.ts'
import {
  amountCell,
  codeCell,
  formatWord,
  statusCell,
  type Tone,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, accountPath, eventCell, eventPath, idCell, personCell } from '../layout/links.ts'
import { beforeOf, choiceFilter, column, noFilters, numberColumn, pageOfRows } from '../lists/list.ts'
import { toneOf } from '../withdrawals/withdrawal-list.ts'
import { defineUserSection } from './user-section.ts'

const historyFilters = Type.Object({ currency: Type.Optional(CurrencyName) })

export const historySection = defineUserSection<typeof historyFilters, NumberedEntry>({
  path: 'history',
  lead: 'Every movement of the user’s balances, newest first. An amount on hold has not moved yet.',
  choices: [
    choiceFilter('currency', 'Currency', [['', 'All'], ...allCurrencies.map((one) => [one, formatWord(one)] as const)]),
  ],
  label: 'History',
  filters: historyFilters,
  needsIndex: () => true,
  empty: 'Nothing has moved here yet. A credit, a gift or a salary would be the first movement.',
  columns: [
    column('position', 'Event', ({ position }) => eventCell(position)),
    column('at', 'Time', ({ at }) => timeCell(at)),
    column('type', 'What', ({ type }) => wordCell(type)),
    column('account', 'Currency', (entry) => ({
      ...textCell(formatWord(currencyOf(entry.account)), accountPath(entry.account)),
      value: entry.account,
    })),
    numberColumn('amount', 'Amount', (entry) => amountCell(currencyOf(entry.account), entry.amount)),
    numberColumn('balance', 'Balance after', (entry) => amountCell(currencyOf(entry.account), entry.balance)),
    column('counter_account', 'From or to', ({ counter }) => accountCell(counter)),
  ],
  read: async ({ query: { currency }, db, at, cursor, limit }, request) => {
    const user = idOf(request)
    const numbered = allCurrencies.map((name) => account('user', user, name))
    const accounts = currency === undefined ? numbered : [account('user', user, currency)]
    const [position = at + 1, number = 0] = cursor === null ? [] : decodeCursor(cursor, 2)
    const before = { position, number }
    const entries = await readAllLatestEntries(db, { accounts, numbered, before, limit: limit + 1 })
    return pageOfRows(entries, limit, (entry) => [entry.position, entry.number])
  },
})

interface WithdrawalRow {
  readonly withdrawal_id: number
  readonly type: string
  readonly status: string
  readonly wallet: string
  /** Cents. */
  readonly amount: number
  readonly other_id: number
  readonly other_name: string | null
  readonly created_at: Micros
  readonly changed_at: Micros
  readonly changed: number
}

const statuses = ['pending', 'approved', 'rejected', 'transferred'] as const

const withdrawalFilters = Type.Object({
  direction: Type.Optional(Type.Union([Type.Literal('made'), Type.Literal('received')])),
  status: Type.Optional(WithdrawalStatus),
})

export const withdrawalsSection = defineUserSection<typeof withdrawalFilters, WithdrawalRow>({
  path: 'withdrawals',
  choices: [
    choiceFilter('direction', 'Requests', [
      ['made', 'Made by the user'],
      ['received', 'Addressed to the user'],
    ]),
    choiceFilter('status', 'Status', [['', 'All'], ...statuses.map((status) => [status, status] as const)]),
  ],
  label: 'Withdrawals',
  filters: withdrawalFilters,
  isOfNow: true,
  empty: 'No such request. On the page of all withdrawals, choose another status or those addressed to the user.',
  columns: [
    column('withdrawal_id', 'Request', ({ withdrawal_id: id }) => idCell('withdrawal', id)),
    column('type', 'Type', ({ type }) => wordCell(type)),
    column('status', 'Status', ({ status }) => statusCell(status, toneOf(status))),
    numberColumn('amount', 'Dollars', ({ amount }) => amountCell('dollars', amount)),
    column('wallet', 'Wallet', ({ wallet }) => wordCell(wallet)),
    column('other', 'Other side', ({ other_id, other_name }) => personCell(other_id, other_name)),
    column('created_at', 'Requested', ({ created_at }) => timeCell(created_at)),
    column('changed_at', 'Last change', ({ changed_at, changed }) => timeCell(changed_at, eventPath(changed))),
  ],
  read: async ({ query: { direction = 'made', status }, db, at, cursor, limit }, request) => {
    const [own, other] =
      direction === 'made' ? (['user_id', 'target_id'] as const) : (['target_id', 'user_id'] as const)
    const rows = await db
      .selectFrom('withdrawals as w')
      .leftJoin('user_profiles as p', 'p.user_id', `w.${other}`)
      .select(['w.withdrawal_id', 'w.type', 'w.status', 'w.wallet', 'w.amount', 'w.changed', `w.${other} as other_id`])
      .select('p.name as other_name')
      .select([micros('w.created_at').as('created_at'), micros('w.changed_at').as('changed_at')])
      .where(`w.${own}`, '=', idOf(request))
      .where('w.withdrawal_id', '<', beforeOf(cursor, at))
      .$if(status !== undefined, (query) => query.where('w.status', '=', status ?? ''))
      .orderBy('w.withdrawal_id', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ withdrawal_id }) => withdrawal_id)
  },
})

type Outcome = 'seated' | 'left' | 'won' | 'lost' | 'paid back'

/** A seat that the user took in a game. */
interface Seat {
  readonly position: number
  readonly at: Micros
  readonly join: EventData<'roulette-joined'>
  readonly outcome: Outcome
  /** Coins that the game has paid; null while it is open. */
  readonly paid: number | null
}

const tones: Readonly<Record<Outcome, Tone>> = {
  seated: 'waiting',
  left: 'neutral',
  won: 'good',
  lost: 'neutral',
  'paid back': 'neutral',
}

export const gamesSection = defineUserSection<typeof noFilters, Seat>({
  path: 'games',
  label: 'Games',
  filters: noFilters,
  isOfNow: true,
  empty: 'No seat in a game has been taken here.',
  columns: [
    column('game_id', 'Game', ({ join }) => idCell('game', join.game_id)),
    column('joined_at', 'Joined', ({ at, position }) => timeCell(at, eventPath(position))),
    column('room_id', 'Room', ({ join }) => codeCell(String(join.room_id))),
    numberColumn('stake', 'Stake (coins)', ({ join }) => amountCell('coins', join.stake)),
    column('outcome', 'Outcome', ({ outcome }) => statusCell(outcome, tones[outcome])),
    numberColumn('paid', 'Paid (coins)', ({ paid }) => amountCell('coins', paid)),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const before = beforeOf(cursor, at)
    const user = idOf(request)
    const joins = await readNewestOf(db, { type: 'roulette-joined', user, before, limit: limit + 1 })
    const found = await gamesById(
      db,
      joins.map(({ data }) => data.game_id),
    )
    const rows = joins.map(({ position, at: joinedAt, data }) => ({
      position,
      at: joinedAt,
      join: data,
      ...outcomeOf(found.get(data.game_id), position, data),
    }))
    return pageOfRows(rows, limit, ({ position }) => position)
  },
})

interface Game {
  readonly status: string
  readonly prize: number
  readonly winner_id: number | null
  /** JSON of the seats. */
  readonly entries: string
}

async function gamesById(db: Kysely<Tables>, ids: readonly number[]): Promise<ReadonlyMap<number, Game>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('roulette_games')
    .select(['game_id', 'status', 'prize', 'winner_id', 'entries'])
    .where(isAnyOf('game_id', [...new Set(ids)]))
    .execute()
  return new Map(rows.map(({ game_id, ...game }) => [game_id, game]))
}

function outcomeOf(
  game: Game | undefined,
  position: number,
  { user_id, stake }: EventData<'roulette-joined'>,
): Pick<Seat, 'outcome' | 'paid'> {
  const entries: readonly RouletteEntry[] = JSON.parse(game?.entries ?? '[]')
  if (game === undefined || !entries.some(({ entry }) => entry === position)) return { outcome: 'left', paid: stake }
  if (game.status === 'open') return { outcome: 'seated', paid: null }
  if (game.status === 'cancelled') return { outcome: 'paid back', paid: stake }
  return game.winner_id === user_id ? { outcome: 'won', paid: game.prize } : { outcome: 'lost', paid: 0 }
}

const lookups = { users: userNames(() => ''), packages: packageNames }

export const notificationsSection = defineUserSection<typeof noFilters, InboxNotification>({
  path: 'notifications',
  lead: 'What was pushed to the user, in English and with current names.',
  label: 'Notifications',
  filters: noFilters,
  isOfNow: true,
  empty: 'Nothing was ever pushed to this user. What was done to the account is in its history.',
  columns: [
    column('id', 'Event', ({ id }) => eventCell(id)),
    column('created_at', 'Time', ({ created_at }) => timeCell(created_at)),
    column('title', 'Title', ({ title }) => textCell(title)),
    column('body', 'Text', ({ body }) => textCell(body)),
    column('read_at', 'Read', ({ read_at }) => timeCell(read_at)),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const userId = idOf(request)
    const { entries } = await inboxLookup(db)({ userId, limit: limit + 1, before: beforeOf(cursor, at) })
    const page = entries.slice(0, limit)
    const own = page.flatMap((entry) =>
      notificationsOf(notificationMapper, entry.event)
        .filter(({ user_id }) => user_id === userId)
        .map((notification) => ({ entry, notification })),
    )
    const names = await findNames(
      db,
      lookups,
      own.map(({ notification }) => notification.namedIds),
    )
    return {
      rows: own.map(({ entry, notification }) => inboxNotification(entry, notification, names, 'en')),
      next: pageOfRows(entries, limit, ({ event }) => event.position).next,
    }
  },
})
