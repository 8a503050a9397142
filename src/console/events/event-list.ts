import { Type } from '@sinclair/typebox'
import { ACCOUNT_PATTERN } from '../../../schema/account.ts'
import { Text } from '../../../schema/common.ts'
import { searchEvents } from '../../audit/reports/events/search-events.ts'
import { parseInteger } from '../../audit/routes/query-parsing.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import type { Movement } from '../../ledger/rules/account.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { addressWith } from '../frame/address.ts'
import { type Cell, codeCell, formatUnits, formatWord, textCell, timeCell, wordCell } from '../frame/cells.ts'
import { actorCell, eventCell } from '../frame/links.ts'
import { type Column, column, type List } from '../lists/list.ts'
import { periodFilters, readBounds } from '../lists/period-query.ts'

/** Events that are searched for a page, a few milliseconds of work: what is rare is looked for on the next pages, too. */
const MAX_SEARCHED_EVENTS = 4_000

const filters = Type.Object({
  type: Type.Optional(Type.String({ pattern: '^[a-z-]{1,64}$' })),
  actor: Type.Optional(Text(200)),
  user: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,15}$' })),
  account: Type.Optional(Type.String({ pattern: ACCOUNT_PATTERN })),
  request_id: Type.Optional(Text(255)),
  key: Type.Optional(Text(255)),
  ...periodFilters,
})

export const eventColumns: readonly Column<LedgerEntry>[] = [
  column('position', 'Event', ({ position }) => eventCell(position)),
  column('at', 'Time', ({ at }) => timeCell(at)),
  column('type', 'Type', ({ type }) => wordCell(type)),
  column('actor', 'Actor', ({ actor }) => actorCell(actor)),
  column('movements', 'Movements', ({ movements }) => textCell(movementsText(movements))),
  column('request_id', 'Request', ({ requestId }) => requestCell(requestId)),
]

export const eventList: List<typeof filters, LedgerEntry> = {
  label: 'Events',
  filters,
  needsIndex: ({ type, actor, user, account, request_id, key }) =>
    [type, actor, user, account, request_id, key].some((filter) => filter !== undefined),
  empty: 'No event matches. Take away a filter, or choose another time.',
  columns: eventColumns,
  read: async ({ query, db, at, cursor, limit }) => {
    const { type, actor, user, account, request_id, key } = query
    const { first, last } = await readBounds(db, query, at)
    const [before] = cursor === null ? [] : decodeCursor(cursor, 1)
    const { events, next } = await searchEvents(db, {
      type,
      actor,
      user: user === undefined ? undefined : parseInteger('user', user),
      account,
      requestId: request_id,
      idempotencyKey: key,
      first,
      last,
      upTo: at,
      before,
      limit,
      maxSearched: MAX_SEARCHED_EVENTS,
    })
    return { rows: events, next: next === null ? null : encodeCursor([next]) }
  },
}

const SHOWN_CHARACTERS = 8

/** The beginning of a request's id, which tells requests apart and leaves room for the rest; it leads to all its events. */
const requestCell = (id: string): Cell => ({
  ...codeCell(
    id.length > SHOWN_CHARACTERS + 4 ? `${id.slice(0, SHOWN_CHARACTERS)}…` : id,
    addressWith('/console/events', { request_id: id }),
  ),
  value: id,
})

/** `50 diamonds from user:7 to house:gifts, and 3 more` */
function movementsText([first, ...others]: readonly Movement[]): string {
  if (first === undefined) return ''
  const { debit, credit, amount } = first
  const currency = currencyOf(debit)
  const text = `${formatUnits(currency, amount)} ${formatWord(currency)} from ${holderOf(debit)} to ${holderOf(credit)}`
  return others.length === 0 ? text : `${text}, and ${others.length} more`
}

const holderOf = (account: string): string => account.slice(0, account.lastIndexOf(':'))
