import { type Static, Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import type { EventData } from '../../../schema/events.ts'
import { searchEvents } from '../../audit/reports/events/search-events.ts'
import type { Tables } from '../../db/tables.ts'
import { decorationNames } from '../../features/gifts/reads.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import { amountCell, numberCell, statusCell, textCell, timeCell } from '../frame/cells.ts'
import { eventCell, idCell, personCell } from '../frame/links.ts'
import { column, type List, type ListRequest, type ListRows, numberColumn } from '../lists/list.ts'
import { periodFilters, readPeriod } from '../lists/period-query.ts'
import { readUserNames } from '../users/find-user.ts'

const Filters = Type.Object({
  ...periodFilters,
  gift: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
  /** The sender. */
  user: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
})
type Query = Static<typeof Filters>

interface Row {
  readonly position: number
  readonly at: Micros
  readonly data: EventData<'gift-drawn'>
  readonly sender: string | null
  readonly gift: string | null
}

/** Searches that one page makes for a gift, which no index has; what is left is for the next page. */
const MAX_SEARCHES = 6
const SEARCHED_SENDS = 500

const wonBy = ({ draws }: EventData<'gift-drawn'>): bigint =>
  draws.reduce((sum, { reward }) => sum + BigInt(reward), 0n)

export const sendList: List<typeof Filters, Row> = {
  label: 'Lucky sends',
  filters: Filters,
  needsIndex: () => true,
  columns: [
    column('draw', 'Draw', ({ position }) => idCell('draw', position)),
    column('at', 'When', ({ at }) => timeCell(at)),
    column('sender', 'Sender', ({ data, sender }) => personCell(data.sender_id, sender)),
    column('gift', 'Gift', ({ data, gift }) => textCell(`${gift ?? 'Gift'} (${data.decoration_id})`)),
    numberColumn('quantity', 'Of each', ({ data }) => numberCell(data.quantity)),
    numberColumn('orders', 'Orders', ({ data }) => numberCell(data.draws.length)),
    numberColumn('paid_in', 'Paid in', ({ data }) => amountCell('diamonds', data.cost)),
    numberColumn('paid_out', 'Paid out', ({ data }) => amountCell('diamonds', wonBy(data))),
    numberColumn('house_result', 'House result', ({ data }) => amountCell('diamonds', BigInt(data.cost) - wonBy(data))),
    column('source', 'From', ({ data }) => statusCell(data.from_bag ? 'bag' : 'balance')),
    column('event', 'Event', ({ position }) => eventCell(position)),
  ],
  empty: 'No lucky gift was sent here. Choose a longer period, or look at the next page if there is one.',
  read: readSends,
}

async function readSends({ query, db, at, cursor, limit }: ListRequest<Query>): Promise<ListRows<Row>> {
  const { gift = '', user = '' } = query
  const { first, last } = await readPeriod(db, query, at)
  const filter = {
    type: 'gift-drawn',
    ...(user === '' ? {} : { user: Number(user) }),
    first,
    last,
    upTo: at,
  }
  const isWanted = (data: EventData<'gift-drawn'>): boolean =>
    (gift === '' || data.decoration_id === Number(gift)) && (user === '' || data.sender_id === Number(user))
  const isFiltered = gift !== '' || user !== ''
  const rows: Omit<Row, 'sender' | 'gift'>[] = []
  let before = cursor === null ? undefined : decodeCursor(cursor, 1)[0]
  for (let searches = 0; searches < MAX_SEARCHES; searches += 1) {
    const page = await searchEvents(db, {
      ...filter,
      limit: isFiltered ? SEARCHED_SENDS : limit - rows.length,
      ...(before === undefined ? {} : { before }),
    })
    for (const entry of page.events) {
      const event = parseStoredEvent(entry)
      if (event.type !== 'gift-drawn' || !isWanted(event.data)) continue
      rows.push({ position: event.position, at: event.at, data: event.data })
      if (rows.length === limit) {
        const isEnd = page.next === null && entry === page.events.at(-1)
        return { rows: await named(db, rows), next: isEnd ? null : encodeCursor([event.position]) }
      }
    }
    if (page.next === null) return { rows: await named(db, rows), next: null }
    before = page.next
  }
  return { rows: await named(db, rows), next: before === undefined ? null : encodeCursor([before]) }
}

async function named(db: Kysely<Tables>, rows: readonly Omit<Row, 'sender' | 'gift'>[]): Promise<Row[]> {
  if (rows.length === 0) return []
  const [names, gifts] = await Promise.all([
    readUserNames(
      db,
      rows.map(({ data }) => data.sender_id),
    ),
    decorationNames(db, [...new Set(rows.map(({ data }) => data.decoration_id))]),
  ])
  return rows.map((row) => ({
    ...row,
    sender: names.get(row.data.sender_id) ?? null,
    gift: gifts.get(row.data.decoration_id)?.name ?? null,
  }))
}
