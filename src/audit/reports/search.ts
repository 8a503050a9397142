import { type Kysely, sql } from 'kysely'
import { isNameWord } from '../../../schema/common.ts'
import { beginsWith, isWord, micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { isMonth } from '../../features/closings/closing.ts'
import { findClosing } from '../../features/closings/reads.ts'
import { parseOrderId } from '../../features/gifts/send.ts'
import { parseProposed } from '../../features/proposals/reads.ts'
import { findPeople, personById } from '../../features/users/reads.ts'
import { folded } from '../../language/names.ts'
import { currencyOf, parseId } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { formatAmount } from '../format.ts'
import { listAccounts } from './accounts/list-accounts.ts'
import { searchEvents } from './events/search-events.ts'
import { listStaffActs } from './events/staff-acts.ts'

/** What one text may stand for. */
export interface SearchHit {
  readonly kind: HitKind
  /** An id, an account, a position, a month, or a member of staff; of a request, a key and an order the text itself. */
  readonly id: string
  /** What is known about it besides, for people; may hold names. */
  readonly label: string
  /** The newest event of a request, a key or an order. */
  readonly position?: number
}

const kinds = [
  'user',
  'room',
  'account',
  'event',
  'draw',
  'game',
  'withdrawal',
  'proposal',
  'gift',
  'month',
  'staff',
  'order',
  'request',
  'key',
] as const
export type HitKind = (typeof kinds)[number]

interface Requester {
  readonly text: string
  /** The text as an id; null when it is none. */
  readonly id: number | null
  /** The end of the ledger for this search, and of what its indexes are asked for. */
  readonly ends: SearchEnds
  /** Whether a word before the text says what it is: `gift 3`. */
  readonly isNamed: boolean
}

export interface SearchEnds {
  readonly head: number
  /** Requests, keys, and acts of staff are looked for up to here: after the end of the indexes each event is read. */
  readonly searched: number
}

type Finder = (db: Kysely<Tables>, asked: Requester) => Promise<SearchHit[]>

/** Hits of one kind. */
export const MAX_HITS = 10
/** Longer texts are nothing that can be found. */
const MAX_TEXT = 255

/** In the order of their hits. */
const finders: readonly Finder[] = [
  findUsers,
  findRooms,
  findAccounts,
  findByPosition,
  findGifts,
  findMonth,
  findStaff,
  findOrder,
  findCauses,
]

const finderOf: Readonly<Record<HitKind, Finder>> = {
  user: findUsers,
  room: findRooms,
  account: findAccounts,
  event: findByPosition,
  draw: findByPosition,
  game: findByPosition,
  withdrawal: findByPosition,
  proposal: findByPosition,
  gift: findGifts,
  month: findMonth,
  staff: findStaff,
  order: findOrder,
  request: findCauses,
  key: findCauses,
}

/** Everything that a text may be meant to find, in the order of kinds; what a word before it names comes first. */
export async function searchAll(db: Kysely<Tables>, q: string, ends: SearchEnds): Promise<readonly SearchHit[]> {
  const text = q.trim()
  if (text === '' || text.length > MAX_TEXT || text.includes('\0')) return []
  const asked = { text, id: parseId(text), ends, isNamed: false }
  const [named, ...found] = await Promise.all([
    findNamed(db, text, ends),
    ...finders.map((finder) => finder(db, asked)),
  ])
  const hits = [...named, ...found.flat()]
  return [...new Map(hits.map((hit) => [`${hit.kind} ${hit.id}`, hit])).values()]
}

/** `withdrawal 55`, `gift #3`: a kind and what is wanted of it. */
async function findNamed(db: Kysely<Tables>, q: string, ends: SearchEnds): Promise<SearchHit[]> {
  const [, word = '', text = ''] = /^([a-z]+)(?:\s+#?|#)\s*(\S.*)$/i.exec(q) ?? []
  const kind = kindOf(word.toLowerCase())
  if (kind === undefined) return []
  const hits = await finderOf[kind](db, { text, id: parseId(text), ends, isNamed: true })
  return hits.filter((hit) => hit.kind === kind)
}

const kindOf = (word: string): HitKind | undefined => kinds.find((kind) => kind === word)

async function findUsers(db: Kysely<Tables>, { text, id }: Requester): Promise<SearchHit[]> {
  const [own, people] = await Promise.all([id === null ? undefined : personById(db, id), findPeople(db, text)])
  const all = [...(own === undefined ? [] : [own]), ...people.filter((person) => person.id !== own?.id)]
  return all
    .slice(0, MAX_HITS)
    .map(({ id: user, name, uid }) => ({ kind: 'user', id: String(user), label: `${name} (${uid})` }))
}

async function findRooms(db: Kysely<Tables>, { text, id }: Requester): Promise<SearchHit[]> {
  const rooms = db.selectFrom('room_profiles').select(['room_id', 'uid', 'name'])
  const [byNumber, byName] = await Promise.all([
    rooms
      .where((eb) => eb.or([isWord('uid_folded', text), ...(id === null ? [] : [eb('room_id', '=', id)])]))
      .limit(MAX_HITS)
      .execute(),
    isNameWord(text)
      ? rooms.where(beginsWith('name_folded', text)).orderBy(sql`name_folded using ~<~`).limit(MAX_HITS).execute()
      : [],
  ])
  const found = new Map([...byNumber, ...byName].map((room) => [room.room_id, room]))
  return [...found.values()]
    .slice(0, MAX_HITS)
    .map(({ room_id, uid, name }) => ({ kind: 'room', id: String(room_id), label: `${name} (${uid})` }))
}

async function findAccounts(db: Kysely<Tables>, { text, ends: { searched: upTo } }: Requester): Promise<SearchHit[]> {
  // A number alone is found as what it is the number of.
  if (!text.includes(':')) return []
  const { accounts } = await listAccounts(db, { q: text, sort: 'account', limit: MAX_HITS, upTo })
  return accounts.map(({ account, balance }) => ({
    kind: 'account',
    id: account,
    label: `balance ${amountText(currencyOf(account), balance)}`,
  }))
}

/** The event at a position, and what has the position of its first event as its id. */
async function findByPosition(db: Kysely<Tables>, { id, ends }: Requester): Promise<SearchHit[]> {
  if (id === null || id > ends.head) return []
  const event = await eventAt(db, id)
  if (event === undefined) return []
  const own = await madeBy(db, event.type, id)
  return [...(own === null ? [] : [own]), { kind: 'event', id: String(id), label: eventText(event) }]
}

const eventAt = (db: Kysely<Tables>, position: number) =>
  db
    .selectFrom('ledger_events')
    .select(['type', 'actor', micros('at').as('at')])
    .where('position', '=', position)
    .executeTakeFirst()

const eventText = ({ type, actor, at }: { type: string; actor: string; at: number }): string =>
  joined(type, `by ${actor}`, timeText(at))

/** What an event made that has a page of its own; null for nothing. */
async function madeBy(db: Kysely<Tables>, type: string, position: number): Promise<SearchHit | null> {
  const id = String(position)
  switch (type) {
    case 'withdrawal-requested':
      return { kind: 'withdrawal', id, label: await withdrawalText(db, position) }
    case 'roulette-created':
      return { kind: 'game', id, label: await gameText(db, position) }
    case 'proposal-made':
      return { kind: 'proposal', id, label: await proposalText(db, position) }
    case 'gift-drawn':
      return { kind: 'draw', id, label: 'a lucky gift, step by step' }
    default:
      return null
  }
}

async function withdrawalText(db: Kysely<Tables>, id: number): Promise<string> {
  const row = await db
    .selectFrom('withdrawals as w')
    .leftJoin('user_profiles as p', 'p.user_id', 'w.user_id')
    .select(['w.amount', 'w.wallet', 'w.status', 'w.user_id', 'p.name'])
    .where('w.withdrawal_id', '=', id)
    .executeTakeFirst()
  return row === undefined
    ? ''
    : joined(amountText(row.wallet, BigInt(row.amount)), row.name || `user ${row.user_id}`, row.status)
}

async function gameText(db: Kysely<Tables>, id: number): Promise<string> {
  const row = await db
    .selectFrom('roulette_games as g')
    .leftJoin('room_profiles as p', 'p.room_id', 'g.room_id')
    .select(['g.game_price', 'g.status', 'g.room_id', 'p.name'])
    .where('g.game_id', '=', id)
    .executeTakeFirst()
  return row === undefined
    ? ''
    : joined(`${amountText('coins', BigInt(row.game_price))} a place`, row.name || `room ${row.room_id}`, row.status)
}

async function proposalText(db: Kysely<Tables>, id: number): Promise<string> {
  const row = await db
    .selectFrom('proposals')
    .select(['action', 'subject', 'amounts', 'status'])
    .where('proposal_id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return ''
  const { subject, status } = row
  const { action, amounts } = parseProposed({ id, ...row })
  const sums = amounts.map(({ limit, amount }) => amountText(limit, BigInt(amount)))
  return joined(wordsOf(action), ...sums, subject, status)
}

/** By the beginning of a name, among all gifts, of which there are few (`MAX_DECORATIONS`); by number only where named. */
async function findGifts(db: Kysely<Tables>, { text, id, isNamed }: Requester): Promise<SearchHit[]> {
  const isName = id === null && isNameWord(text)
  if (!isName && !(isNamed && id !== null)) return []
  const gifts = await db
    .selectFrom('decorations')
    .select(['decoration_id', 'name', 'name_ar', 'kind', 'price'])
    .$if(!isName, (query) => query.where('decoration_id', '=', id ?? 0))
    .orderBy('decoration_id')
    .execute()
  const word = folded(text)
  const begins = (name: string | null): boolean => name !== null && folded(name).startsWith(word)
  const rows = gifts.filter(({ name, name_ar }) => !isName || begins(name) || begins(name_ar)).slice(0, MAX_HITS)
  return rows.map(({ decoration_id, name, kind, price }) => ({
    kind: 'gift',
    id: String(decoration_id),
    label: joined(name, kind, amountText('diamonds', BigInt(price))),
  }))
}

/** A month that the ledger has, from that of its first event to that of now. */
async function findMonth(db: Kysely<Tables>, { text }: Requester): Promise<SearchHit[]> {
  if (!isMonth(text)) return []
  const [first, closing] = await Promise.all([eventAt(db, 1), findClosing(db, text)])
  if (first === undefined || text < monthOf(first.at) || text > monthOf(Date.now() * 1_000)) return []
  return [{ kind: 'month', id: text, label: closing === null ? 'not closed' : 'closed' }]
}

const monthOf = (at: number): string => isoMicros(at).slice(0, 7)

/** Members of staff who caused something. A text that looks like none of their names is one only where that is said. */
async function findStaff(db: Kysely<Tables>, { text, ends, isNamed }: Requester): Promise<SearchHit[]> {
  const name = text.replace(/^staff:/i, '')
  if (!isNamed && name === text && !/^\p{L}[\p{L}\p{M}\p{N}_.@+-]*$/u.test(name)) return []
  const { acts } = await listStaffActs(db, { sub: name, upTo: ends.searched, limit: 1 })
  return acts.map(({ sub, entry }) => ({ kind: 'staff', id: sub, label: `last act ${timeText(entry.at)}` }))
}

async function findOrder(db: Kysely<Tables>, { text, ends }: Requester): Promise<SearchHit[]> {
  const position = parseOrderId(text)
  if (position === undefined || position > ends.head) return []
  const event = await eventAt(db, position)
  return event?.type === 'gift-drawn' || event?.type === 'gift-sent'
    ? [{ kind: 'order', id: text, label: eventText(event), position }]
    : []
}

/** Commands by their request id or idempotency key. */
async function findCauses(db: Kysely<Tables>, { text, ends: { searched: upTo } }: Requester): Promise<SearchHit[]> {
  const [requests, keys] = await Promise.all([
    searchEvents(db, { requestId: text, upTo, limit: 1 }),
    searchEvents(db, { idempotencyKey: text, upTo, limit: MAX_HITS }),
  ])
  const ofKeys = new Map(keys.events.map((event) => [event.actor, event]))
  return [
    ...requests.events.map(
      ({ actor, position }): SearchHit => ({ kind: 'request', id: text, label: `by ${actor}`, position }),
    ),
    ...[...ofKeys.values()].map(
      ({ actor, position }): SearchHit => ({ kind: 'key', id: text, label: `by ${actor}`, position }),
    ),
  ]
}

const amountText = (currency: string, amount: bigint): string =>
  `${formatAmount(currency, amount)} ${wordsOf(currency)}`

const wordsOf = (name: string): string => name.replaceAll('_', ' ')

const timeText = (at: number): string => `${isoMicros(at).slice(0, 19).replace('T', ' ')} UTC`

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' · ')
