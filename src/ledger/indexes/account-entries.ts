import { type Kysely, type RawBuilder, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../rules/time.ts'
import { patternOf } from '../storage/packed-columns.ts'

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
  sql<boolean>`(e.position > ${after} and e.position <= ${upTo} and e.movements ~ ${patternOf(accounts)})`

/** The movements of some accounts in the events that the condition names. */
export async function selectEntries(
  db: Kysely<Tables>,
  accounts: readonly string[],
  condition: RawBuilder<boolean>,
): Promise<readonly AccountEntry[]> {
  const { rows } = await sql<AccountEntry>`
    select s.account, m.position, s.leg, ${micros('m.at')} as at, m.type, s.counter, s.amount
    from ledger_movements m,
         lateral (values (2 * m.leg - 2, m.debit, m.credit, -m.amount), (2 * m.leg - 1, m.credit, m.debit, m.amount))
           as s (leg, account, counter, amount)
    where m.position in (select position from ledger_events e where ${condition}) and s.account = any (${[...accounts]}::text[])
    order by m.position, s.leg`.execute(db)
  return rows
}
