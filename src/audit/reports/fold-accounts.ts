import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { unpackMovements } from '../../ledger/storage/packed-columns.ts'
import type { Period } from './period.ts'
import type { QueryContext } from './query-context.ts'

/** Events of one page, a few milliseconds of work. */
const PAGE_EVENTS = 2_000

/**
 * Calls `onPosting` for both sides of every movement in a period, in order; `amount` is negative where value leaves. Throws
 * when the database lacks an event of the period.
 */
export async function foldAccounts(
  db: Kysely<Tables>,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
  onPosting: (account: string, amount: number) => void,
): Promise<void> {
  onPlanned(last - first + 1)
  if (first > last) return
  let nextPage = readPage(db, first, last)
  for (let from = first; from <= last; from += PAGE_EVENTS) {
    signal.throwIfAborted()
    const rows = await nextPage
    // The database reads on while this page is folded. The next round of the loop throws its error.
    nextPage = readPage(db, from + PAGE_EVENTS, last)
    nextPage.catch(() => {})
    const expected = Math.min(PAGE_EVENTS, last - from + 1)
    if (rows.length !== expected) {
      throw new Error(`the ledger lacks ${expected - rows.length} of the events ${from} to ${from + expected - 1}`)
    }
    for (const { movements } of rows) {
      for (const { debit, credit, amount } of unpackMovements(movements)) {
        onPosting(debit, -amount)
        onPosting(credit, amount)
      }
    }
    onScanned(expected)
  }
}

const readPage = async (db: Kysely<Tables>, from: number, last: number) =>
  from > last
    ? []
    : await db
        .selectFrom('ledger_events')
        .select('movements')
        .where('position', '>=', from)
        .where('position', '<=', Math.min(last, from + PAGE_EVENTS - 1))
        .orderBy('position')
        .execute()

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
