import { type Static, Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import type { EventData } from '../../../schema/events.ts'
import { type EventFilter, searchEvents } from '../../audit/reports/events/search-events.ts'
import type { Tables } from '../../db/tables.ts'
import type { Verdict } from '../../features/fairness/verdict.ts'
import type { PublishedRow } from '../../features/gifts/odds.ts'
import { checkDraw, decorationNames, publishedOddsTable } from '../../features/gifts/reads.ts'
import { orderId } from '../../features/gifts/send.ts'
import { runYielding } from '../../http/limits/concurrency.ts'
import { decodeCursor, encodeCursor } from '../../http/pages.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import { readEventsAt, storedEvents } from '../events/stored-events.ts'
import { amountCell, numberCell, statusCell, textCell, timeCell } from '../layout/cells.ts'
import { eventCell, idCell, personCell } from '../layout/links.ts'
import { column, type List, type ListRequest, type ListRows, NumberQuery, numberColumn } from '../lists/list.ts'
import { periodFilters, readPeriod } from '../lists/period.ts'
import { readUserNames } from '../users/find-user.ts'

type DrawEvent = Extract<StoredEvent, { type: 'gift-drawn' }>

export interface DrawDetails {
  readonly event: DrawEvent
  readonly giftName: string | null
  /** Names by user id; without those that were erased. */
  readonly names: ReadonlyMap<number, string>
  readonly commitment: string | null
  /** Positions of the events that committed to a value; null where the search ended before one was found. */
  readonly committed: {
    /** The chain was announced, with its commitment, when the one before it was opened. */
    readonly announced: number | null
    /** It was opened, with the client seed. */
    readonly opened: number | null
    /** The send before this one on the chain revealed the hash of this link. */
    readonly previousLink: number | null
    /** The odds were defined. */
    readonly odds: number | null
  }
  /** The odds that were in force, in their order; empty when they are unknown. */
  readonly odds: readonly PublishedRow[]
  readonly verdict: Verdict
}

/** A lucky send with where each of its values was committed; undefined when there is none at this position. */
export async function readDrawDetails(db: Kysely<Tables>, position: number): Promise<DrawDetails | undefined> {
  const event = await readDraw(db, position)
  if (event === undefined) return undefined
  const { data } = event
  const { sender_id, receiver_ids, chain, k, odds_hash, decoration_id } = data
  const [names, gifts, table, chainRow, previousLink, opening, odds, verdict] = await Promise.all([
    readUserNames(db, [sender_id, ...receiver_ids]),
    decorationNames(db, [decoration_id]),
    publishedOddsTable(db, odds_hash),
    db
      .selectFrom('lucky_chains')
      .select('commitment')
      .where('chain', '=', chain)
      .where('incarnation', '=', data.incarnation)
      .executeTakeFirst(),
    k === 1 ? null : readPreviousSend(db, sender_id, position, chain),
    findOpening(db, position, data),
    findNewest(
      db,
      { type: 'decoration-defined' },
      position,
      (found) => found.type === 'decoration-defined' && found.data.odds_hash === odds_hash,
    ),
    verify(db, position, data),
  ])
  return {
    event,
    names,
    giftName: gifts.get(decoration_id)?.name ?? null,
    commitment: chainRow?.commitment ?? null,
    committed: { ...opening, previousLink, odds: odds?.position ?? null },
    odds: table?.odds ?? [],
    verdict,
  }
}

async function readDraw(db: Kysely<Tables>, position: number): Promise<DrawEvent | undefined> {
  const [event] = await readEventsAt(db, [position])
  return event?.type === 'gift-drawn' ? event : undefined
}

async function verify(db: Kysely<Tables>, position: number, data: EventData<'gift-drawn'>): Promise<Verdict> {
  const { price, quantity, draws } = data
  const { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash } = data
  const orders = draws.map(({ r, reward }, i) => ({ order_id: orderId(position, i), r, reward_num: reward }))
  const named = { incarnation, chain, k, link, announced, client_seed, decoration_id, odds_hash }
  const started = await checkDraw(db, { ...named, stake: price * quantity, orders })
  if ('errors' in started) throw validationFailed(started.errors)
  return runYielding(started.check)
}

/** The sender's send before this one, if it used the same chain. */
async function readPreviousSend(
  db: Kysely<Tables>,
  senderId: number,
  position: number,
  chain: string,
): Promise<number | null> {
  const { rows } = await sql<{ position: number; data: string }>`
    select position, data from ledger
    where type = 'gift-drawn' and actor = ${`user:${senderId}`} and position < ${position}
    order by position desc limit 1`.execute(db)
  const [row] = rows
  return row?.data.includes(`"chain":"${chain}"`) === true ? row.position : null
}

/** The events that opened a chain and, before that, announced it: it may be the first one, which nothing announced. */
async function findOpening(db: Kysely<Tables>, position: number, { sender_id, chain, k }: EventData<'gift-drawn'>) {
  const filter = { type: 'lucky-chain-opened', user: sender_id }
  const isOpening = ({ type, data }: StoredEvent): boolean => type === 'lucky-chain-opened' && data.chain === chain
  const opening =
    (await readWithFirstSend(db, position, sender_id, k)).find(isOpening) ??
    (await findNewest(db, filter, position, isOpening))
  if (opening?.type !== 'lucky-chain-opened') return { opened: null, announced: null }
  const announced =
    opening.data.number === 1
      ? null
      : await findNewest(
          db,
          filter,
          opening.position - 1,
          ({ type, data }) => type === 'lucky-chain-opened' && data.next_chain === chain,
        )
  return { opened: opening.position, announced: announced?.position ?? null }
}

/** Events that a send may begin with. */
const EVENTS_OF_SEND = 4

/**
 * The first send of a chain, found by an index as it counts its sends, with the events just before it: a chain is mostly
 * opened by the command that first draws from it.
 */
async function readWithFirstSend(
  db: Kysely<Tables>,
  position: number,
  senderId: number,
  k: number,
): Promise<readonly StoredEvent[]> {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)}
    from (
      select position from ledger_events
      where type = 'gift-drawn' and actor = ${`user:${senderId}`} and position <= ${position}
      order by position desc offset ${k - 1} limit 1
    ) sent join ledger_events e on e.position between sent.position - ${EVENTS_OF_SEND} and sent.position`.execute(db)
  return storedEvents(rows)
}

const MAX_COMMIT_SEARCHES = 4

/** The newest event up to a position that is the one; null when the search would take too long. */
async function findNewest(
  db: Kysely<Tables>,
  filter: EventFilter,
  upTo: number,
  isWanted: (event: StoredEvent) => boolean,
): Promise<StoredEvent | null> {
  let before: number | undefined
  for (let searches = 0; searches < MAX_COMMIT_SEARCHES; searches += 1) {
    const page = await searchEvents(db, { ...filter, upTo, limit: 50, ...(before === undefined ? {} : { before }) })
    const found = page.events.map(parseStoredEvent).find(isWanted)
    if (found !== undefined) return found
    if (page.next === null) return null
    before = page.next
  }
  return null
}

const Filters = Type.Object({
  ...periodFilters,
  gift: NumberQuery,
  /** The sender. */
  user: NumberQuery,
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
