import { type Kysely, sql } from 'kysely'
import type { EventData } from '../../../schema/events.ts'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { packageNames } from '../../features/privilege/reads.ts'
import { decodeCursor } from '../../http/pages.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import { account } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import { readEventsAt, readNewestOf } from '../events/stored-events.ts'
import { type Cell, codeCell, numberCell, textCell, timeCell } from '../layout/cells.ts'
import { accountCell, eventCell, eventPath } from '../layout/links.ts'
import { beforeOf, column, noFilters, numberColumn, pageOfRows } from '../lists/list.ts'
import { defineUserSection } from './user-section.ts'

interface StoredCard {
  readonly card_id: number
  readonly privilege_package_id: number
  readonly name: string
  readonly rank: number
  readonly valid_days: number
  /** When the card entered the wallet, and the position of that event. */
  readonly created_at: Micros
  readonly entered: number
}

export const cardsSection = defineUserSection<typeof noFilters, StoredCard>({
  path: 'cards',
  label: 'Stored cards',
  filters: noFilters,
  isOfNow: true,
  empty: 'No card is stored here. Cards come from staff or from other users.',
  columns: [
    column('card_id', 'Card', ({ card_id }) => eventCell(card_id)),
    column('package', 'Package', ({ name }) => textCell(name)),
    column('package_id', 'Package id', ({ privilege_package_id: id }) => codeCell(String(id))),
    numberColumn('rank', 'Rank', ({ rank }) => numberCell(rank)),
    numberColumn('valid_days', 'Days', ({ valid_days }) => numberCell(valid_days)),
    column('entered_at', 'In the wallet since', ({ created_at, entered }) => timeCell(created_at, eventPath(entered))),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const rows = await db
      .selectFrom('privilege_cards as c')
      .innerJoin('privilege_packages as p', 'p.privilege_package_id', 'c.privilege_package_id')
      .select(['c.card_id', 'c.privilege_package_id', 'c.valid_days', 'c.entered', 'p.name', 'p.rank'])
      .select(micros('c.created_at').as('created_at'))
      .where('c.owner_id', '=', idOf(request))
      // The predicate of the partial index.
      .where(sql<boolean>`not c.activated`)
      .where('c.entered', '<', beforeOf(cursor, at))
      .orderBy('c.entered', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ entered }) => entered)
  },
})

/** An activation, and what it did, which the event after it says. */
interface Activation {
  readonly position: number
  readonly at: Micros
  readonly card: EventData<'card-activated'>
  readonly packageName: string
  readonly effect: Effect | null
}

type ActivationEvent = Extract<StoredEvent, { type: 'card-activated' }>

interface Effect {
  readonly days: number
  /** Seconds since 1970. */
  readonly validUntil: number
  readonly replaced: boolean
}

export const activationsSection = defineUserSection<typeof noFilters, Activation>({
  path: 'activations',
  label: 'Activated cards',
  filters: noFilters,
  empty: 'No card has been activated by this user. Cards that wait to be are under “Stored cards”.',
  columns: [
    column('at', 'Activated', ({ at, position }) => timeCell(at, eventPath(position))),
    column('card_id', 'Card', ({ card }) => eventCell(card.card_id)),
    column('package', 'Package', ({ packageName }) => textCell(packageName)),
    numberColumn('card_days', 'Days of the card', ({ card }) => numberCell(card.valid_days)),
    numberColumn('days_added', 'Days added', ({ effect }) => numberCell(effect?.days)),
    column('effect', 'Effect', ({ effect }) => textCell(effectText(effect))),
    column('valid_until', 'Valid until', ({ effect }) => validUntilCell(effect?.validUntil)),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const before = beforeOf(cursor, at)
    const user = idOf(request)
    const activated = await readNewestOf(db, { type: 'card-activated', user, before, limit: limit + 1 })
    return pageOfRows(await withEffects(db, activated), limit, ({ position }) => position)
  },
})

const effectText = (effect: Effect | null): string | null =>
  effect === null ? null : effect.replaced ? 'replaced the privilege' : 'added days'

/** A time in seconds since 1970. */
export const validUntilCell = (seconds: number | undefined): Cell =>
  timeCell(seconds === undefined ? null : seconds * 1_000_000)

async function withEffects(db: Kysely<Tables>, activated: readonly ActivationEvent[]): Promise<Activation[]> {
  if (activated.length === 0) return []
  const ids = [...new Set(activated.map(({ data }) => data.privilege_package_id))]
  const [after, names] = await Promise.all([
    readEventsAt(
      db,
      activated.map(({ position }) => position + 1),
    ),
    packageNames(db, ids),
  ])
  const effects = new Map(after.map((event) => [event.position, effectOf(event)]))
  return activated.map(({ position, at, data }) => ({
    position,
    at,
    card: data,
    packageName: names.get(data.privilege_package_id)?.name ?? '',
    effect: effects.get(position + 1) ?? null,
  }))
}

function effectOf({ type, data }: StoredEvent): Effect | null {
  if (type !== 'privilege-days-added' && type !== 'privilege-replaced') return null
  return { days: data.days, validUntil: data.valid_until, replaced: type === 'privilege-replaced' }
}

interface BagRow {
  readonly decoration_id: number
  readonly name: string
  readonly quantity: number
  /** Position of the event that last added to it. */
  readonly added_at: number
}

export const bagSection = defineUserSection<typeof noFilters, BagRow>({
  path: 'bag',
  label: 'Gifts in the bag',
  filters: noFilters,
  isOfNow: true,
  empty: 'The bag is empty. Staff can put gifts into it.',
  columns: [
    column('decoration_id', 'Gift id', ({ decoration_id }) => codeCell(String(decoration_id))),
    column('name', 'Gift', ({ name }) => textCell(name)),
    numberColumn('quantity', 'Quantity', ({ quantity }) => numberCell(quantity)),
    column('last_added', 'Last added by event', ({ added_at }) => eventCell(added_at)),
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    const rows = await db
      .selectFrom('bag_items as i')
      .innerJoin('decorations as d', 'd.decoration_id', 'i.decoration_id')
      .select(['i.decoration_id', 'i.quantity', 'i.added_at', 'd.name'])
      .where('i.user_id', '=', idOf(request))
      .where('i.added_at', '<', beforeOf(cursor, at))
      .orderBy('i.added_at', 'desc')
      .limit(limit + 1)
      .execute()
    return pageOfRows(rows, limit, ({ added_at }) => added_at)
  },
})

interface RoomRow {
  readonly room_id: number
  readonly uid: string
  readonly name: string
  readonly is_owner: boolean
  readonly trophy_points: number
  readonly joined_at: Micros
}

export const roomsSection = defineUserSection<typeof noFilters, RoomRow>({
  path: 'rooms',
  label: 'Rooms',
  filters: noFilters,
  isOfNow: true,
  empty: 'A member of no room. Rooms are joined in the app, and appear here then.',
  columns: [
    column('room_id', 'Room', ({ room_id }) => codeCell(String(room_id))),
    column('name', 'Name', ({ name }) => textCell(name)),
    column('uid', 'Uid', ({ uid }) => codeCell(uid)),
    column('role', 'Role', ({ is_owner }) => textCell(is_owner ? 'owner' : 'member')),
    column('joined_at', 'Member since', ({ joined_at }) => timeCell(joined_at)),
    numberColumn('trophy_points', 'Trophy points', ({ trophy_points }) => numberCell(trophy_points)),
    column('account', 'Income', ({ room_id }) => accountCell(account('room', room_id, 'target'))),
  ],
  // By id, in the order of the index: who is a member of thousands of rooms must not make the page slow.
  read: async ({ db, at, cursor, limit }, request) => {
    const user = idOf(request)
    const [after = 0] = cursor === null ? [] : decodeCursor(cursor, 1)
    const rows = await db
      .selectFrom('room_memberships as m')
      .innerJoin('rooms as r', 'r.room_id', 'm.room_id')
      .innerJoin('room_profiles as p', 'p.room_id', 'm.room_id')
      .select((eb) => ['m.room_id', 'p.uid', 'p.name', 'r.trophy_points', eb('r.owner_id', '=', user).as('is_owner')])
      .select(micros('m.joined_at').as('joined_at'))
      .where('m.user_id', '=', user)
      .where('m.room_id', '>', after)
      .where('m.joined_at', '<=', timeOf(at))
      .orderBy('m.room_id')
      .limit(limit + 1)
      .execute()
    return pageOfRows(
      rows.map(({ is_owner, ...row }) => ({ ...row, is_owner: Boolean(is_owner) })),
      limit,
      ({ room_id }) => room_id,
    )
  },
})

/** When the event at a position happened; before all of them at 0. */
const timeOf = (at: number) =>
  sql<string>`coalesce((select e.at from ledger_events e where e.position = ${at}), 'epoch')`
