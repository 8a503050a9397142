import type { Kysely } from 'kysely'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import { parseOrderId } from '../../features/gifts/send.ts'
import { findPeople, personById } from '../../features/users/reads.ts'
import { parseId } from '../../ledger/rules/parse-id.ts'
import { listAccounts } from './accounts/list-accounts.ts'
import { searchEvents } from './events/search-events.ts'

/** What one text may stand for. */
export interface SearchHit {
  readonly kind: 'user' | 'room' | 'account' | 'event' | 'request' | 'key' | 'order' | 'game' | 'withdrawal'
  /** An id, an account, or a position; of a request, a key and an order the text itself. */
  readonly id: string
  /** For people; may hold names. */
  readonly label: string
  /** Of a request, a key or an order: of its newest event. */
  readonly position?: number
}

/** Hits of one kind. */
const MAX_HITS = 10
/** Longer texts are nothing that can be found. */
const MAX_TEXT = 255

/** Everything that a text may be meant to find, in the order of kinds. */
export async function searchAll(db: Kysely<Tables>, q: string): Promise<readonly SearchHit[]> {
  const text = q.trim()
  if (text === '' || text.length > MAX_TEXT || text.includes('\0')) return []
  const id = parseId(text)
  const upTo = await headOf(db)
  const found = await Promise.all([
    findUsers(db, text, id),
    findRooms(db, text, id),
    findAccounts(db, text, upTo),
    findByPosition(db, id, upTo),
    findOrder(db, text, upTo),
    findCauses(db, text, upTo),
  ])
  return found.flat()
}

async function findUsers(db: Kysely<Tables>, text: string, id: number | null): Promise<SearchHit[]> {
  const [own, people] = await Promise.all([id === null ? undefined : personById(db, id), findPeople(db, text)])
  const all = [...(own === undefined ? [] : [own]), ...people.filter((person) => person.id !== own?.id)]
  return all
    .slice(0, MAX_HITS)
    .map(({ id: user, name, uid }) => ({ kind: 'user', id: String(user), label: `${name} (${uid})` }))
}

async function findRooms(db: Kysely<Tables>, text: string, id: number | null): Promise<SearchHit[]> {
  const rows = await db
    .selectFrom('room_profiles')
    .select(['room_id', 'uid', 'name'])
    .where((eb) => eb.or([eb('uid', '=', text), ...(id === null ? [] : [eb('room_id', '=', id)])]))
    .limit(MAX_HITS)
    .execute()
  return rows.map(({ room_id, uid, name }) => ({ kind: 'room', id: String(room_id), label: `${name} (${uid})` }))
}

async function findAccounts(db: Kysely<Tables>, text: string, upTo: number): Promise<SearchHit[]> {
  // A number alone is found as what it is the number of.
  if (!text.includes(':')) return []
  const { accounts } = await listAccounts(db, { q: text, sort: 'account', limit: MAX_HITS, upTo })
  return accounts.map(({ account }) => ({ kind: 'account', id: account, label: account }))
}

/** The event at a position, and what has the position of its first event as its id. */
async function findByPosition(db: Kysely<Tables>, id: number | null, upTo: number): Promise<SearchHit[]> {
  if (id === null || id > upTo) return []
  const event = await db.selectFrom('ledger_events').select('type').where('position', '=', id).executeTakeFirst()
  if (event === undefined) return []
  const hits: SearchHit[] = [{ kind: 'event', id: String(id), label: event.type }]
  if (event.type === 'roulette-created') hits.push({ kind: 'game', id: String(id), label: `game ${id}` })
  if (event.type === 'withdrawal-requested')
    hits.push({ kind: 'withdrawal', id: String(id), label: `withdrawal ${id}` })
  return hits
}

async function findOrder(db: Kysely<Tables>, text: string, upTo: number): Promise<SearchHit[]> {
  const position = parseOrderId(text)
  if (position === undefined || position > upTo) return []
  const event = await db.selectFrom('ledger_events').select('type').where('position', '=', position).executeTakeFirst()
  return event?.type === 'gift-drawn' || event?.type === 'gift-sent'
    ? [{ kind: 'order', id: text, label: `order ${text}`, position }]
    : []
}

/** Commands by their request id or idempotency key. */
async function findCauses(db: Kysely<Tables>, text: string, upTo: number): Promise<SearchHit[]> {
  const [requests, keys] = await Promise.all([
    searchEvents(db, { requestId: text, upTo, limit: 1 }),
    searchEvents(db, { idempotencyKey: text, upTo, limit: MAX_HITS }),
  ])
  const ofKeys = new Map(keys.events.map((event) => [event.actor, event]))
  return [
    ...requests.events.map(
      ({ actor, position }): SearchHit => ({ kind: 'request', id: text, label: `request of ${actor}`, position }),
    ),
    ...[...ofKeys.values()].map(
      ({ actor, position }): SearchHit => ({ kind: 'key', id: text, label: `key of ${actor}`, position }),
    ),
  ]
}
