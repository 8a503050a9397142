import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { type AccountEntry, entriesAt, entriesBetween } from '../../ledger/indexes/account-entries.ts'
import { eventsWith, readIndexed, readSums } from '../../ledger/indexes/index-reads.ts'
import { accountTerm } from '../../ledger/indexes/index-terms.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Period } from './period.ts'
import type { QueryContext } from './query-context.ts'

// An account's movements are found by the index of accounts, which lags a little: what came after it is searched range by
// range. As stored events never change, this needs no transaction.

/** Events that one statement searches. */
const EVENTS_PER_QUERY = 2_000
/** Events whose movements one statement returns. */
const MAX_PAGE_EVENTS = 1_000

/** One movement from the view of one of its accounts. */
export interface AccountMovement {
  readonly position: number
  /** ISO 8601, microseconds. */
  readonly at: string
  readonly type: string
  readonly counter_account: string
  /** Whole units (cents of a dollar); negative when it left the account. */
  readonly amount: bigint
}

/** The movements of an account in a period, in order, in pages that may be empty. */
export async function* readMovements(
  db: Kysely<Tables>,
  account: string,
  period: Period,
  context: QueryContext,
): AsyncGenerator<readonly AccountMovement[], void> {
  for await (const entries of readEntries(db, account, period, context)) {
    yield entries.map(({ position, at, type, counter, amount }) => ({
      position,
      at: isoMicros(at),
      type,
      counter_account: counter,
      amount: BigInt(amount),
    }))
  }
}

async function* readEntries(
  db: Kysely<Tables>,
  account: string,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
): AsyncGenerator<readonly AccountEntry[], void> {
  const indexed = await readIndexed(db)
  const period = { first, last: Math.min(last, indexed) }
  for await (const { events } of eventsWith(db, [accountTerm(account)], period, 'oldest')) {
    onPlanned(events.length)
    for (let start = 0; start < events.length; start += MAX_PAGE_EVENTS) {
      signal.throwIfAborted()
      const page = events.slice(start, start + MAX_PAGE_EVENTS).map(({ position }) => position)
      yield await entriesAt(db, [account], page)
      onScanned(page.length)
    }
  }
  const unindexed = Math.max(first, indexed + 1)
  if (last >= unindexed) onPlanned(last - unindexed + 1)
  for (let from = unindexed; from <= last; from += EVENTS_PER_QUERY) {
    signal.throwIfAborted()
    const to = Math.min(last, from + EVENTS_PER_QUERY - 1)
    yield await entriesBetween(db, [account], from - 1, to)
    onScanned(to - from + 1)
  }
}

/** An account's balance as of a position. */
export async function readBalanceAt(
  db: Kysely<Tables>,
  account: string,
  position: number,
  context: QueryContext,
): Promise<bigint> {
  const known = Math.min(position, await readIndexed(db))
  let { balance } = (await readSums(db, [account], [known]))(account, known)
  for await (const page of readEntries(db, account, { first: known + 1, last: position }, context)) {
    for (const { amount } of page) balance += BigInt(amount)
  }
  return balance
}
