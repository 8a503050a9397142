import { type Kysely, type RawBuilder, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../rules/time.ts'
import { BLOCK_EVENTS, baseOf, INDEX_CURSOR } from './index-rows.ts'

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
