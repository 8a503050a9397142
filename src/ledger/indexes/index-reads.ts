import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { PageReader } from './index-pages.ts'
import { accountTerm, type Term } from './index-terms.ts'
import { BLOCK_EVENTS, FAN_IN_BITS, INDEX_CURSOR, segmentEvents } from './index-writer.ts'

/** SQL: the cursor of the indexes, 0 before they are begun. */
export const indexedSql = sql<number>`coalesce((select position from ledger_cursors where name = ${INDEX_CURSOR}), 0)`

/** How far the indexes are. */
export async function readIndexed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ indexed: number }>`select ${indexedSql} as indexed`.execute(db)
  return rows[0]?.indexed ?? 0
}

/** An event under a term. */
interface FoundEvent {
  readonly term: Term
  readonly position: number
  /** What it changed, where the term is an account. */
  readonly change: number | bigint
}

/** Events under some terms; all others of the part of the ledger that is searched come after them. */
export interface FoundEvents {
  readonly events: FoundEvent[]
  /** The last position that was searched. */
  readonly searched: number
}

type Direction = 'newest' | 'oldest'

/** Segments of the first query, in which there may be enough, and of each further one. */
const FIRST_SEGMENTS = 8
const MORE_SEGMENTS = 64
/** Pages of one term that a query reads of a segment. */
const PAGES = 4

interface FoundPage {
  readonly level: number
  readonly base: number
  /** The place of the term in the list; null where no page of the segment can have any. */
  readonly place: number | null
  readonly term: Buffer
  readonly first: number
  readonly data: Buffer
}

/**
 * The events of a period that have one of these terms, as far as the index reaches, in order or backwards: in parts, each of
 * which continues where the one before ends, and is sorted. An event comes once for each of its terms.
 */
export async function* eventsWith(
  db: Kysely<Tables>,
  terms: readonly Term[],
  period: { readonly first: number; readonly last: number },
  direction: Direction,
): AsyncGenerator<FoundEvents, void> {
  const isNewest = direction === 'newest'
  let { first } = period
  let last = Math.min(period.last, await readIndexed(db))
  for (let limit = FIRST_SEGMENTS; first <= last; limit = MORE_SEGMENTS) {
    const rows = await readPages(db, terms, first, last, direction, limit)
    const segments = new Set(rows.map(({ base }) => base))
    const end = rows.at(-1)
    if (end === undefined) return
    // As far as all terms were read: all segments found, or up to where one of them has further pages.
    let searched = isNewest
      ? segments.size < limit
        ? first
        : Math.max(first, end.base + 1)
      : segments.size < limit
        ? last
        : Math.min(last, end.base + segmentEvents(end.level))
    const events: FoundEvent[] = []
    for (const [, pages] of Map.groupBy(rows, ({ base, place }) => `${base} ${place}`)) {
      const [{ base, place } = end] = pages
      const term = place === null ? undefined : terms[place - 1]
      if (term === undefined) continue
      const found = pages.flatMap((page) => eventsOfPage(page, term))
      for (const event of found) if (event.position >= first && event.position <= last) events.push(event)
      const bytes = Buffer.from(term, 'latin1')
      const outermost = pages.at(-1)
      if (pages.length < PAGES || outermost === undefined) continue
      if (!isNewest) searched = Math.min(searched, found.at(-1)?.position ?? searched)
      else if (outermost.term.equals(bytes)) searched = Math.max(searched, base + outermost.first)
    }
    const within = events.filter(({ position }) => (isNewest ? position >= searched : position <= searched))
    within.sort((a, b) => (isNewest ? b.position - a.position : a.position - b.position))
    yield { events: within, searched }
    if (isNewest) last = searched - 1
    else first = searched + 1
  }
}

/** The pages of a segment of events of this term, from one position to another; the first in order may begin before. */
function eventsOfPage({ base, data }: FoundPage, term: Term): FoundEvent[] {
  const events: FoundEvent[] = []
  const reader = new PageReader(data)
  while (reader.nextTerm() && reader.term <= term) {
    if (reader.term !== term) continue
    while (reader.nextPosting()) events.push({ term, position: base + reader.offset, change: reader.change })
  }
  return events
}

async function readPages(
  db: Kysely<Tables>,
  terms: readonly Term[],
  first: number,
  last: number,
  direction: Direction,
  limit: number,
): Promise<readonly FoundPage[]> {
  const order = direction === 'newest' ? sql`desc` : sql`asc`
  // A page is found by where it begins, so that what is looked for may be on the one before.
  const { rows } = await sql<FoundPage>`
    select s.level, s.base, p.place::int, p.term, p.first, p.data
    from (
      select level, base from ledger_index_segments
      where state = 'live' and base < ${last} and base + ${segmentSql} >= ${first}
      order by base ${order} limit ${limit}
    ) s
    left join lateral (
      select t.place, page.term, page.first, page.data
      from unnest(${bytesOf(terms)}::bytea[]) with ordinality as t (term, place)
      left join lateral (
        select term, first from ledger_index
        where level = s.level and base = s.base and (term, first) <= (t.term, ${first} - s.base)
        order by term desc, first desc limit 1
      ) start on true
      cross join lateral (
        select term, first, data from ledger_index
        where level = s.level and base = s.base and (term, first) <= (t.term, ${last} - s.base)
          and (term, first) >= (coalesce(start.term, ''::bytea), coalesce(start.first, 0))
        order by term ${order}, first ${order} limit ${PAGES}
      ) page
    ) p on true
    order by s.base ${order}, p.place, p.term ${order}, p.first ${order}`.execute(db)
  return rows
}

const bytesOf = (terms: readonly Term[]): readonly Buffer[] => terms.map((term) => Buffer.from(term, 'latin1'))

/** SQL: the events of a segment of its level. */
const segmentSql = sql<number>`(${BLOCK_EVENTS}::bigint << (${FAN_IN_BITS} * level))`

/** An account as of a position. */
interface AccountSum {
  readonly balance: bigint
  /** Of the last event that moved it; 0 without any. */
  readonly last: number
}

/** Accounts of one query: they share pages. */
const MAX_SUMMED_ACCOUNTS = 100

/**
 * What some accounts came to as of some positions, as far as the index reaches: sums of whole segments, and of a part of the
 * one that has the position. By account and position.
 */
export async function readSums(
  db: Kysely<Tables>,
  accounts: readonly string[],
  positions: readonly number[],
): Promise<(account: string, position: number) => AccountSum> {
  const sums = new Map<Term, (position: number) => AccountSum>()
  const terms = [...new Set(accounts.map(accountTerm))].toSorted()
  for (let i = 0; i < terms.length; ) {
    const some = terms.slice(i, i + MAX_SUMMED_ACCOUNTS)
    const found = await trySums(db, some, positions)
    // Segments were merged between its two queries.
    if (found === null) continue
    for (const [term, sumAt] of found) sums.set(term, sumAt)
    i += some.length
  }
  return (account, position) => sums.get(accountTerm(account))?.(position) ?? { balance: 0n, last: 0 }
}

interface Probe {
  readonly level: number
  readonly base: number
  readonly end: number
  /** Up to which what its segment says is summed. */
  readonly position: number
}

async function trySums(db: Kysely<Tables>, terms: readonly Term[], positions: readonly number[]) {
  const newest = Math.max(0, ...positions)
  const { rows: segments } = await sql<Pick<Probe, 'level' | 'base' | 'end'>>`
    select level, base, base + ${segmentSql} as end from ledger_index_segments
    where state = 'live' and base < ${newest} order by base`.execute(db)
  const probes = segments.flatMap((segment) =>
    [...new Set([segment.end, ...positions])]
      .filter((position) => position > segment.base && position <= segment.end)
      .map((position): Probe => ({ ...segment, position })),
  )
  const parts = await readProbes(db, terms, probes)
  if (parts === null) return null
  return new Map(
    terms.map((term) => {
      const own = parts.flatMap(({ probe, sums }) => {
        const sum = sums.get(term)
        return sum === undefined ? [] : [{ ...probe, ...sum }]
      })
      const sumAt = (position: number): AccountSum => {
        let balance = 0n
        let last = 0
        for (const part of own) {
          if (part.end <= position ? part.position !== part.end : part.position !== position) continue
          balance += part.balance
          last = Math.max(last, part.last)
        }
        return { balance, last }
      }
      return [term, sumAt]
    }),
  )
}

interface ProbedPart {
  readonly probe: Probe
  readonly sums: ReadonlyMap<Term, AccountSum>
}

/** What segments say of terms up to the position of each probe. Null where one of them was merged meanwhile. */
async function readProbes(
  db: Kysely<Tables>,
  terms: readonly Term[],
  probes: readonly Probe[],
): Promise<readonly ProbedPart[] | null> {
  // Neighbours are on one page, which is read once.
  const { rows } = await sql<{ probe: number; term: Buffer | null; first: number; data: Buffer }>`
    select p.probe::int, page.term, page.first, page.data
    from unnest(${probes.map(({ level }) => level)}::smallint[], ${probes.map(({ base }) => base)}::bigint[],
                ${probes.map(({ position }) => position)}::bigint[]) with ordinality as p (level, base, position, probe)
    join ledger_index_segments s on s.level = p.level and s.base = p.base and s.state = 'live'
    left join lateral (
      select distinct found.term, found.first from unnest(${bytesOf(terms)}::bytea[]) as t (term)
      cross join lateral (
        select term, first from ledger_index
        where level = p.level and base = p.base and (term, first) <= (t.term, p.position - p.base)
        order by term desc, first desc limit 1
      ) found
    ) k on true
    left join ledger_index page
      on page.level = p.level and page.base = p.base and page.term = k.term and page.first = k.first
    order by p.probe, page.term, page.first`.execute(db)
  const pages = Map.groupBy(rows, ({ probe }) => probe)
  if (pages.size < probes.length) return null
  const wanted = new Set(terms)
  return [...pages].flatMap(([number, found]) => {
    const probe = probes[number - 1]
    return probe === undefined ? [] : [{ probe, sums: sumsOfPages(found, wanted, probe) }]
  })
}

/** The last event of each of these terms up to a position, as far as the index reaches; terms without one are missing. */
export async function readLast(
  db: Kysely<Tables>,
  terms: readonly Term[],
  upTo: number,
): Promise<ReadonlyMap<Term, number>> {
  const found = new Map<Term, number>()
  if (terms.length === 0) return found
  let last = Math.min(upTo, await readIndexed(db))
  let rest = terms
  for (let limit = FIRST_SEGMENTS; rest.length > 0 && last > 0; limit = MORE_SEGMENTS) {
    const { rows: segments } = await sql<Pick<Probe, 'level' | 'base' | 'end'>>`
      select level, base, base + ${segmentSql} as end from ledger_index_segments
      where state = 'live' and base < ${last} order by base desc limit ${limit}`.execute(db)
    const oldest = segments.at(-1)
    if (oldest === undefined) break
    const end = last
    const probes = segments.map((segment) => ({ ...segment, position: Math.min(end, segment.end) }))
    const parts = await readProbes(db, rest, probes)
    if (parts === null) continue
    for (const { sums } of parts)
      for (const [term, { last: position }] of sums) if (position > (found.get(term) ?? 0)) found.set(term, position)
    rest = rest.filter((term) => !found.has(term))
    last = oldest.base
  }
  return found
}

/** What accounts changed in a segment up to a position, by the pages on which each of them has the last of it. */
function sumsOfPages(
  pages: readonly { readonly term: Buffer | null; readonly first: number; readonly data: Buffer }[],
  wanted: ReadonlySet<Term>,
  { base, position }: Probe,
): ReadonlyMap<Term, AccountSum> {
  const sums = new Map<Term, AccountSum>()
  for (const { term: start, first, data } of pages) {
    if (start === null) continue
    const reader = new PageReader(data)
    for (let isFirst = true; reader.nextTerm(); isFirst = false) {
      const { term } = reader
      // It may be there for another account, and begin with what comes after the position.
      if (!wanted.has(term) || (isFirst && base + first > position)) continue
      let balance = BigInt(isFirst ? reader.before : 0)
      let last = sums.get(term)?.last ?? 0
      while (reader.nextPosting()) {
        if (base + reader.offset > position) continue
        balance += BigInt(reader.change)
        last = base + reader.offset
      }
      sums.set(term, { balance, last })
    }
  }
  return sums
}

/** Events that a read searches for what is not indexed yet, a few milliseconds of work. */
export const MAX_UNINDEXED_EVENTS = 5_000

/** What was asked for is too far beyond the indexes to be searched. */
export class IndexLagExceeded extends Error {
  override readonly name = 'IndexLagExceeded'
}

/** How far the indexes are behind the ledger. */
export interface IndexLag {
  readonly events: number
  /** Since the first block that is not indexed was whole, by the database's clock; 0 when there is none. */
  readonly seconds: number
}

export async function readIndexLag(db: Kysely<Tables>): Promise<IndexLag> {
  const { rows } = await sql<IndexLag>`
    select h.position - c.indexed as events,
           coalesce(extract(epoch from clock_timestamp() - e.at), 0)::float8 as seconds
    from ledger_head h
    cross join (select ${indexedSql} as indexed) c
    left join ledger_events e on e.position = c.indexed + ${BLOCK_EVENTS}`.execute(db)
  const [lag] = rows
  if (lag === undefined) throw new Error('the ledger has no head')
  return { events: Math.max(0, lag.events), seconds: Math.max(0, lag.seconds) }
}
