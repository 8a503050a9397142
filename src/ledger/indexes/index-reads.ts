import { type Kysely, type RawBuilder, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../rules/time.ts'
import { BLOCK_EVENTS, baseOf, INDEX_CURSOR, type TermKind } from './index-rows.ts'

/** One movement from the view of one of its accounts. */
export interface AccountEntry {
  readonly account: string
  readonly position: number
  /** Its place among both sides of all movements of the event: even where value leaves. */
  readonly leg: number
  readonly at: Micros
  readonly type: string
  readonly counter: string
  /** Whole units (cents of a dollar); negative where value leaves. */
  readonly amount: number
}

/** SQL: the cursor of the indexes, 0 before they are begun. */
export const indexedSql = sql<number>`coalesce((select position from ledger_cursors where name = ${INDEX_CURSOR}), 0)`

/** How far the indexes are. */
export async function readIndexed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ indexed: number }>`select ${indexedSql} as indexed`.execute(db)
  return rows[0]?.indexed ?? 0
}

/**
 * The positions of an account's movements in a period, one for each movement, in order. At most `limit` blocks; `next`
 * is the position after them, null when there are no more.
 */
export async function readPositions(
  db: Kysely<Tables>,
  account: string,
  first: number,
  last: number,
  limit: number,
): Promise<{ readonly positions: readonly number[]; readonly next: number | null }> {
  if (first > last) return { positions: [], next: null }
  const { rows } = await sql<{ base: number; offsets: readonly number[] }>`
    select base, offsets from account_index
    where account = ${account} and base between ${baseOf(first)} and ${last - 1}
    order by base limit ${limit}`.execute(db)
  const positions = rows.flatMap(({ base, offsets }) => offsets.map((offset) => base + offset))
  const end = rows.at(-1)
  return {
    positions: positions.filter((position) => position >= first && position <= last),
    next: end === undefined || rows.length < limit ? null : end.base + BLOCK_EVENTS + 1,
  }
}

/**
 * An account's balance at the last position, at most `position`, where the index has it: at the end of a block, or where
 * the index ends.
 */
export async function readBalanceBefore(
  db: Kysely<Tables>,
  account: string,
  position: number,
): Promise<{ readonly position: number; readonly balance: bigint }> {
  const { rows } = await sql<{ indexed: number; balance: string | null }>`
    select c.indexed, (
      select balance from account_index
      where account = ${account} and (c.indexed <= ${position} or base < ${baseOf(position + 1)})
      order by base desc limit 1
    ) as balance
    from (select ${indexedSql} as indexed) c`.execute(db)
  const [row] = rows
  const indexed = row?.indexed ?? 0
  return { position: indexed <= position ? indexed : baseOf(position + 1), balance: BigInt(row?.balance ?? 0) }
}

/** The movements of some accounts in the events at these positions, in order. */
export const entriesAt = async (
  db: Kysely<Tables>,
  accounts: readonly string[],
  positions: readonly number[],
): Promise<readonly AccountEntry[]> => (positions.length === 0 ? [] : selectEntries(db, accounts, isAt(positions)))

/** As `entriesAt`, of all events after one position and up to another, which are searched one by one. */
export const entriesBetween = async (
  db: Kysely<Tables>,
  accounts: readonly string[],
  after: number,
  upTo: number,
): Promise<readonly AccountEntry[]> =>
  after >= upTo ? [] : selectEntries(db, accounts, isFoundBetween(accounts, after, upTo))

/** Whether an event is at one of these positions. */
export const isAt = (positions: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`e.position = any (${[...new Set(positions)]}::bigint[])`

/** Whether an event is in this range and moves one of these accounts. */
export const isFoundBetween = (accounts: readonly string[], after: number, upTo: number): RawBuilder<boolean> =>
  sql<boolean>`(e.position > ${after} and e.position <= ${upTo}
    and (e.debit && ${[...accounts]}::text[] or e.credit && ${[...accounts]}::text[]))`

/** The movements of some accounts in the events that the condition names. */
export async function selectEntries(
  db: Kysely<Tables>,
  accounts: readonly string[],
  condition: RawBuilder<boolean>,
): Promise<readonly AccountEntry[]> {
  const { rows } = await sql<AccountEntry>`
    select s.account, e.position, s.leg, ${micros('e.at')} as at, e.type, s.counter, s.amount
    from ledger_events e,
         unnest(e.debit, e.credit, e.amount) with ordinality as m (debit, credit, amount, number),
         lateral (values (2 * m.number - 2, m.debit, m.credit, -m.amount), (2 * m.number - 1, m.credit, m.debit, m.amount))
           as s (leg, account, counter, amount)
    where ${condition} and s.account = any (${[...accounts]}::text[])
    order by e.position, s.leg`.execute(db)
  return rows
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
  /** Since the first event that is not indexed, by the database's clock; 0 when all are. */
  readonly seconds: number
}

export async function readIndexLag(db: Kysely<Tables>): Promise<IndexLag> {
  const { rows } = await sql<IndexLag>`
    select h.position - c.indexed as events,
           coalesce(extract(epoch from clock_timestamp() - e.at), 0)::float8 as seconds
    from ledger_head h
    cross join (select ${indexedSql} as indexed) c
    left join ledger_events e on e.position = c.indexed + 1`.execute(db)
  const [lag] = rows
  if (lag === undefined) throw new Error('the ledger has no head')
  return { events: Math.max(0, lag.events), seconds: Math.max(0, lag.seconds) }
}

/** What an event is looked for by. */
export interface Term {
  readonly kind: TermKind
  readonly value: string
}

/** Blocks that one statement may return: few at first, as one may be enough. */
const MAX_BLOCKS = 40

interface FoundBlocks {
  readonly bases: readonly number[]
  /** No block up to this position is missing. */
  readonly upTo: number
}

/**
 * The full blocks, from the one of a position on, in which there may be events with all of these terms. Ends where the
 * index ends; what comes after its last `upTo` has to be searched without it.
 */
export async function* blocksWith(
  db: Kysely<Tables>,
  terms: readonly Term[],
  from: number,
): AsyncGenerator<FoundBlocks, void> {
  for (let base = baseOf(from), limit = 1; ; limit = Math.min(4 * limit, MAX_BLOCKS)) {
    const { rows } = await sql<{ end: number; bases: readonly number[] }>`
      select coalesce((select max(base) + ${BLOCK_EVENTS} from event_index), 0) as end, array(
        select base from event_blocks(${hashesOf(terms)}, ${base}, ${Number.MAX_SAFE_INTEGER}) as base
        order by base limit ${limit}
      ) as bases`.execute(db)
    const [{ end, bases } = { end: 0, bases: [] }] = rows
    const last = bases.at(-1)
    const isLast = last === undefined || bases.length < limit
    yield { bases, upTo: isLast ? end : last + BLOCK_EVENTS }
    if (isLast) return
    base = last + BLOCK_EVENTS
  }
}

/**
 * As `blocksWith`, backwards: the newest of the blocks between the one of a position and the one of another, at most
 * `limit`.
 */
export async function newestBlocksWith(
  db: Kysely<Tables>,
  terms: readonly Term[],
  first: number,
  last: number,
  limit: number,
): Promise<readonly number[]> {
  const { rows } = await sql<{ base: number }>`
    select base from event_blocks(${hashesOf(terms)}, ${baseOf(first)}, ${baseOf(last)}) as base
    order by base desc limit ${limit}`.execute(db)
  return rows.map(({ base }) => base)
}

/** The last position that `event_index` covers. */
export async function readSearchable(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ end: number }>`
    select coalesce(max(base) + ${BLOCK_EVENTS}, 0) as end from event_index`.execute(db)
  return rows[0]?.end ?? 0
}

const hashesOf = (terms: readonly Term[]): RawBuilder<readonly number[]> =>
  sql<readonly number[]>`array[${sql.join(terms.map(hashOf))}]`

const hashOf = ({ kind, value }: Term): RawBuilder<number> => sql<number>`hashtext(${`${kind} ${value}`})`

/** Whether an event is in one of these blocks. */
export const isInBlocks = (bases: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`e.position = any (array(
    select base + place from unnest(${[...bases]}::bigint[]) as base, generate_series(1, ${BLOCK_EVENTS}) as place
  ))`
