import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/keyset-pagination.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { AsOf } from './as-of.ts'
import { InvalidQuery } from './query-context.ts'

/** Positions of the ledger, both included; an empty one has `last` = `first` - 1. */
export interface Period {
  readonly first: number
  readonly last: number
}

export interface PeriodQuery {
  /** Null: from the beginning. */
  readonly from: AsOf | null
  /** Null: up to now. */
  readonly to: AsOf | null
}

/**
 * The positions of a period of a ledger that ends at `head`. Events of one transaction have one time, so that a time
 * never parts them. Throws Unanswerable for a position beyond the end, and for an end before the beginning.
 */
export async function resolvePeriod(db: Kysely<Tables>, { from, to }: PeriodQuery, head: number): Promise<Period> {
  if (from !== null && to !== null && 'begins' in from && 'begins' in to && from.begins > to.ends)
    throw endsBeforeStart()
  const last = to === null ? head : await lastPositionAsOf(db, to, head, 'to')
  if (from === null) return { first: 1, last }
  if ('position' in from) {
    if (from.position > last) throw from.position > head ? beyondHead('from', head) : endsBeforeStart()
    return { first: from.position, last }
  }
  const first = (await lastPositionUntil(db, from.begins - 1, head)) + 1
  if (first > last + 1) throw endsBeforeStart()
  return { first, last }
}

/** The last position that belongs to a moment; 0 when the ledger began later. */
export async function lastPositionAsOf(db: Kysely<Tables>, moment: AsOf, head: number, field: string): Promise<number> {
  if (!('position' in moment)) return lastPositionUntil(db, moment.ends, head)
  if (moment.position > head) throw beyondHead(field, head)
  return moment.position
}

/** The last event at or before a time. Times never go back, so that halving finds it. */
async function lastPositionUntil(db: Kysely<Tables>, time: Micros, head: number): Promise<number> {
  let low = 0
  let high = head
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const { at } = await db
      .selectFrom('ledger_events')
      .select(micros('at').as('at'))
      .where('position', '=', middle)
      .executeTakeFirstOrThrow()
    if (at <= time) low = middle
    else high = middle - 1
  }
  return low
}

const beyondHead = (field: string, head: number): InvalidQuery =>
  new InvalidQuery(field, `the ledger ends at position ${head}`)
const endsBeforeStart = (): InvalidQuery => new InvalidQuery('to', 'must not be before from')

/** Where the ledger ends, and what an account holds there: of one moment. */
export async function readHeadAndBalance(
  db: Kysely<Tables>,
  account: string,
): Promise<{ readonly head: number; readonly balance: bigint }> {
  const { rows } = await sql<{ position: number; balance: string | null }>`
    select h.position, b.balance from ledger_head h left join balances b on b.account = ${account}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  return { head: row.position, balance: BigInt(row.balance ?? 0) }
}
