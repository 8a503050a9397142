import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { plainActor } from '../../../http/auth/caller.ts'
import { newestBlocksWith, readIndexed, readSearchable, type Term } from '../../../ledger/indexes/index-reads.ts'
import { BLOCK_EVENTS, baseOf } from '../../../ledger/indexes/index-rows.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../../ledger/storage/stored-event.ts'
import { accountsOfUser, concernsUser, namesUser } from './concerns-user.ts'

/** Events that one page searches unless it says otherwise; what is left is for the next page. */
const MAX_SEARCHED_EVENTS = 30_000
/** Events after the end of the index that one statement searches. */
const EVENTS_PER_QUERY = 2_000
/** Blocks of the first statement, of which the newest may be enough, and of any. */
const FIRST_BLOCKS = 2
const MAX_BLOCKS = 20
/** Positions of an account's movements that one statement looks at. */
const MAX_POSITIONS = 1_000

/** What events have to have; what is absent matches all. */
export interface EventFilter {
  readonly type?: string | undefined
  /** `user:7`, `staff:ann`, `system`; the name of staff in any case. */
  readonly actor?: string | undefined
  /** A user who caused the event, whose value it moves, or whom it names. */
  readonly user?: number | undefined
  /** `user:7:coins`: one side of a movement. */
  readonly account?: string | undefined
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export interface EventSearch extends EventFilter {
  /** Positions, both included; default: all. */
  readonly first?: number | undefined
  readonly last?: number | undefined
  /** The end of the ledger for this search, so that its pages do not shift. */
  readonly upTo: number
  /** `next` of the page before. */
  readonly before?: number | undefined
  readonly limit: number
  /** Events that this page searches, about; each takes some microseconds. Default: 30,000. */
  readonly maxSearched?: number | undefined
}

export interface EventsPage {
  /** Newest first. */
  readonly events: readonly LedgerEntry[]
  /** `before` of the next page; null at the end. A page that was searched for long may be short, or empty, before the end. */
  readonly next: number | null
}

/** A part of the ledger in which there may be more. */
interface Candidates {
  /** Which events, as a `from` clause named e. */
  readonly source: RawBuilder<unknown>
  readonly matches: RawBuilder<boolean>
  /** Everything from this position on has been searched after it. */
  readonly downTo: number
  readonly events: number
}

/** Events newest first. The work of a page is limited, whatever the filter. */
export async function searchEvents(db: Kysely<Tables>, search: EventSearch): Promise<EventsPage> {
  const { first = 1, last = search.upTo, upTo, before, limit, maxSearched = MAX_SEARCHED_EVENTS } = search
  const end = Math.min(upTo, last, before === undefined ? upTo : before - 1)
  const events: LedgerEntry[] = []
  const nextBefore = (position: number): number | null => (position > first ? position : null)
  let searched = 0
  for await (const candidates of candidatesOf(db, search, first, end)) {
    const { source, matches, downTo } = candidates
    const { rows } = await sql<TextRow>`
      select ${sql.raw(eventColumns)} from ${source} where ${matches}
      order by e.position desc limit ${limit - events.length}`.execute(db)
    events.push(...rows.map(parseEntry))
    const oldest = events.at(-1)
    if (oldest !== undefined && events.length >= limit) return { events, next: nextBefore(oldest.position) }
    searched += candidates.events
    if (searched >= maxSearched) return { events, next: nextBefore(downTo) }
  }
  return { events, next: null }
}

async function* candidatesOf(
  db: Kysely<Tables>,
  search: EventSearch,
  first: number,
  end: number,
): AsyncGenerator<Candidates, void> {
  if (first > end) return
  const terms = termsOf(search)
  const isRare = search.requestId !== undefined || search.idempotencyKey !== undefined
  if (search.account !== undefined && !isRare) {
    yield* movementsOf(db, search.account, search, first, end)
  } else if (terms.length > 0) {
    yield* blocksOf(db, terms, search, first, end)
  } else {
    yield { ...range(first, end), matches: matchesFilter(search) }
  }
}

function termsOf({ type, actor, user, requestId, idempotencyKey }: EventFilter): readonly Term[] {
  const values = {
    type,
    actor: actor && plainActor(actor),
    user: user?.toString(),
    request: requestId,
    key: idempotencyKey,
  }
  const kinds = ['type', 'actor', 'user', 'request', 'key'] as const
  return kinds.flatMap((kind): Term[] => {
    const value = values[kind]
    return value === undefined ? [] : [{ kind, value }]
  })
}

/** No more than the page searches in all. */
const maxBlocks = ({ maxSearched = MAX_SEARCHED_EVENTS }: EventSearch): number =>
  Math.min(MAX_BLOCKS, Math.ceil(maxSearched / BLOCK_EVENTS))

/** What the index of terms does not have, then the blocks that it names. */
async function* blocksOf(
  db: Kysely<Tables>,
  terms: readonly Term[],
  filter: EventSearch,
  first: number,
  end: number,
): AsyncGenerator<Candidates, void> {
  const searchable = await readSearchable(db)
  yield* rangesOf(filter, Math.max(first, searchable + 1), end)
  let last = Math.min(end, searchable)
  for (let limit = FIRST_BLOCKS; first <= last; limit = Math.min(3 * limit, maxBlocks(filter))) {
    const bases = await newestBlocksWith(db, terms, first, last, limit)
    const oldest = bases.at(-1)
    if (oldest === undefined) return
    yield {
      source: sql`unnest(${[...bases]}::bigint[]) as b (base) cross join lateral (
        select * from ledger_events
        where position between greatest(b.base + 1, ${first}) and least(b.base + ${BLOCK_EVENTS}, ${last})
        offset 0
      ) e`,
      matches: matchesFilter(filter, bases),
      downTo: oldest + 1,
      events: bases.length * BLOCK_EVENTS,
    }
    last = oldest
  }
}

/** What the index of accounts does not have, then the events that it names. */
async function* movementsOf(
  db: Kysely<Tables>,
  account: string,
  filter: EventSearch,
  first: number,
  end: number,
): AsyncGenerator<Candidates, void> {
  const indexed = await readIndexed(db)
  yield* rangesOf(filter, Math.max(first, indexed + 1), end)
  const matches = matchesFilter(filter)
  let last = Math.min(end, indexed)
  for (let limit = FIRST_BLOCKS; first <= last; limit = Math.min(3 * limit, maxBlocks(filter))) {
    const { rows } = await sql<{ base: number; offsets: readonly number[] }>`
      select base, offsets from account_index
      where account = ${account} and base between ${baseOf(first)} and ${baseOf(last)}
      order by base desc limit ${limit}`.execute(db)
    const found = rows.flatMap(({ base, offsets }) => offsets.map((offset) => base + offset))
    const positions = [...new Set(found)].filter((position) => position >= first && position <= last)
    positions.sort((a, b) => b - a)
    for (let i = 0; i < positions.length; i += MAX_POSITIONS) {
      const part = positions.slice(i, i + MAX_POSITIONS)
      yield {
        source: sql`(select * from ledger_events where position = any (${part}::bigint[])) e`,
        matches,
        downTo: part.at(-1) ?? first,
        events: part.length,
      }
    }
    const oldest = rows.at(-1)
    if (oldest === undefined || rows.length < limit) return
    last = oldest.base
  }
}

function* rangesOf(filter: EventFilter, first: number, last: number): Generator<Candidates, void> {
  const matches = matchesFilter(filter)
  for (let to = last; to >= first; to -= EVENTS_PER_QUERY) {
    yield { ...range(Math.max(first, to - EVENTS_PER_QUERY + 1), to), matches }
  }
}

const range = (first: number, last: number): Omit<Candidates, 'matches'> => ({
  source: sql`(select * from ledger_events where position between ${first} and ${last}) e`,
  downTo: first,
  events: last - first + 1,
})

/** `bases`: of blocks that the index of accounts covers, where movements need not be compared one by one. */
function matchesFilter(filter: EventFilter, bases?: readonly number[]): RawBuilder<boolean> {
  const { type, actor, user, account, requestId, idempotencyKey } = filter
  const conditions: RawBuilder<boolean>[] = [sql`true`]
  if (type !== undefined) conditions.push(sql`e.type = ${type}`)
  if (actor !== undefined) conditions.push(sql`e.actor = ${plainActor(actor)}`)
  if (requestId !== undefined) conditions.push(sql`e.request_id = ${requestId}`)
  if (idempotencyKey !== undefined) conditions.push(sql`e.idempotency_key = ${idempotencyKey}`)
  if (account !== undefined) conditions.push(sql`(e.debit @> ${[account]} or e.credit @> ${[account]})`)
  if (user !== undefined) conditions.push(bases === undefined ? concernsUser(user) : concernsUserWithin(user, bases))
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const concernsUserWithin = (user: number, bases: readonly number[]): RawBuilder<boolean> => sql<boolean>`(
  e.actor = ${`user:${user}`}
  or e.position in (
    select i.base + o from account_index i, unnest(i.offsets) as o
    where i.account = any (${[...accountsOfUser(user)]}::text[]) and i.base = any (${[...bases]}::bigint[])
  )
  or ${namesUser(user)})`
