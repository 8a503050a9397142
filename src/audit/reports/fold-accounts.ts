import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { accountOf, visitPacked } from '../../ledger/storage/packed-columns.ts'
import type { Period } from './period.ts'
import type { QueryContext } from './query-context.ts'

/** Events of one page, a few milliseconds of work. */
const PAGE_EVENTS = 2_000

/**
 * Calls `onPosting` for both sides of every movement in a period, in order; `amount` is negative where value leaves. Throws
 * when the database lacks an event of the period.
 */
export const foldAccounts = (
  db: Kysely<Tables>,
  period: Period,
  context: QueryContext,
  onPosting: (account: string, amount: number) => void,
): Promise<void> => foldCodes(db, period, context, (code, amount) => onPosting(accountOf(code), amount))

/** As `foldAccounts`, with the codes of accounts: making their names takes longer than adding up. */
export async function foldCodes(
  db: Kysely<Tables>,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
  onPosting: (code: string, amount: number) => void,
): Promise<void> {
  onPlanned(last - first + 1)
  if (first > last) return
  let nextPage = readPage(db, first, last)
  for (let from = first; from <= last; from += PAGE_EVENTS) {
    signal.throwIfAborted()
    const { events, movements } = await nextPage
    // The database reads on while this page is folded. The next round of the loop throws its error.
    nextPage = readPage(db, from + PAGE_EVENTS, last)
    nextPage.catch(() => {})
    const expected = Math.min(PAGE_EVENTS, last - from + 1)
    if (events !== expected) {
      throw new Error(`the ledger lacks ${expected - events} of the events ${from} to ${from + expected - 1}`)
    }
    visitPacked(movements, (debit, credit, amount) => {
      onPosting(debit, -amount)
      onPosting(credit, amount)
    })
    onScanned(expected)
  }
}

/** The number of events of a page, and their movements: packed ones in a row are packed movements. */
const readPage = async (db: Kysely<Tables>, from: number, last: number) =>
  from > last
    ? { events: 0, movements: '' }
    : await db
        .selectFrom('ledger_events')
        .select([
          sql<number>`count(*)::int`.as('events'),
          sql<string>`coalesce(string_agg(nullif(movements, ''), ';' order by position), '')`.as('movements'),
        ])
        .where('position', '>=', from)
        .where('position', '<=', Math.min(last, from + PAGE_EVENTS - 1))
        .executeTakeFirstOrThrow()

/** A sum of whole numbers that stays exact beyond 2^53-1, and as fast as a number below. */
export class ExactSum {
  #small = 0
  #large: bigint

  constructor(start = 0n) {
    this.#large = start
  }

  add(amount: number | bigint): void {
    if (typeof amount === 'bigint') {
      this.#large += amount
      return
    }
    const sum = this.#small + amount
    if (Number.isSafeInteger(sum)) {
      this.#small = sum
    } else {
      this.#large += BigInt(this.#small)
      this.#small = amount
    }
  }

  get value(): bigint {
    return this.#large + BigInt(this.#small)
  }
}
