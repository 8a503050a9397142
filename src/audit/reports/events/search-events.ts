import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { plainActor } from '../../../http/auth/caller.ts'
import { eventsWith, readIndexed } from '../../../ledger/indexes/index-reads.ts'
import type { Term } from '../../../ledger/indexes/index-terms.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { packId, patternOf } from '../../../ledger/storage/packed-columns.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../../ledger/storage/stored-event.ts'
import { concernsUser, factsOf, mayConcernUser } from './concerns-user.ts'

/** Events that one page searches unless it says otherwise; what is left is for the next page. */
const MAX_SEARCHED_EVENTS = 30_000
/** Events after the end of the index that one statement searches. */
const EVENTS_PER_QUERY = 2_000
/** Events that one statement answers at the least, as few of those that may concern a user do. */
const MIN_ANSWERED = 100
/** Events that the index names, of which one statement looks at so many. */
const MAX_POSITIONS = 1_000
/** From so many on they are compared with those that the index has of another fact. */
const MIN_INTERSECTED = 100
/** Events that are left out so count as one that is searched. */
const LEFT_OUT_PER_SEARCHED = 20

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
    const answered = search.user === undefined ? limit : Math.max(limit, MIN_ANSWERED)
    let entries: readonly LedgerEntry[]
    let below = upTo + 1
    do {
      const { rows } = await sql<TextRow>`
        select ${sql.raw(eventColumns)} from ${source} where ${matches} and e.position < ${below}
        order by e.position desc limit ${answered}`.execute(db)
      entries = rows.map(parseEntry)
      for (const entry of entries) {
        if (search.user === undefined || concernsUser(search.user, entry)) events.push(entry)
        if (events.length === limit) return { events, next: nextBefore(entry.position) }
      }
      below = entries.at(-1)?.position ?? 0
    } while (entries.length === answered)
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
  const { actor, ...facts } = search
  const [rarest, ...others] = factsOf({ ...facts, actor: actor && plainActor(actor) })
  if (rarest !== undefined) yield* eventsOf(db, rarest, others, search, first, end)
  else yield { ...range(first, end), matches: matchesFilter(search) }
}

/** What the index does not have, then the events that it names. */
async function* eventsOf(
  db: Kysely<Tables>,
  terms: readonly Term[],
  otherFacts: readonly (readonly Term[])[],
  filter: EventSearch,
  first: number,
  end: number,
): AsyncGenerator<Candidates, void> {
  const indexed = await readIndexed(db)
  yield* rangesOf(filter, Math.max(first, indexed + 1), end)
  const matches = matchesFilter(filter)
  for await (const { events, searched } of eventsWith(db, terms, { first, last: Math.min(end, indexed) }, 'newest')) {
    const named = [...new Set(events.map(({ position }) => position))]
    let positions: readonly number[] = named
    for (const other of otherFacts) positions = await intersect(db, positions, other)
    for (let i = 0; i === 0 || i < positions.length; i += MAX_POSITIONS) {
      const part = positions.slice(i, i + MAX_POSITIONS)
      yield {
        source: sql`(select * from ledger_events where position = any (${part}::bigint[])) e`,
        matches,
        downTo: i + MAX_POSITIONS < positions.length ? (part.at(-1) ?? first) : searched,
        events: part.length + (i === 0 ? (named.length - positions.length) / LEFT_OUT_PER_SEARCHED : 0),
      }
    }
  }
}

/**
 * Leaves out positions of events that have none of these terms, as far as one read of the index reaches. Where there are few
 * it is cheaper to look at the events.
 */
async function intersect(
  db: Kysely<Tables>,
  positions: readonly number[],
  terms: readonly Term[],
): Promise<readonly number[]> {
  const [last] = positions
  const first = positions.at(-1)
  if (first === undefined || last === undefined || positions.length < MIN_INTERSECTED) return positions
  const { value } = await eventsWith(db, terms, { first, last }, 'newest').next()
  if (value === undefined) return positions
  const found = new Set(value.events.map(({ position }) => position))
  return positions.filter((position) => position < value.searched || found.has(position))
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

function matchesFilter(filter: EventFilter): RawBuilder<boolean> {
  const { type, actor, user, account, requestId, idempotencyKey } = filter
  const conditions: RawBuilder<boolean>[] = [sql`true`]
  if (type !== undefined) conditions.push(sql`e.type = ${type}`)
  if (actor !== undefined) conditions.push(sql`e.actor = ${plainActor(actor)}`)
  if (requestId !== undefined) conditions.push(sql`e.request_id = decode(${packId(requestId)}, 'hex')`)
  if (idempotencyKey !== undefined) conditions.push(sql`e.idempotency_key = decode(${packId(idempotencyKey)}, 'hex')`)
  if (account !== undefined) conditions.push(sql`e.movements ~ ${patternOf([account])}`)
  if (user !== undefined) conditions.push(mayConcernUser(user))
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}
