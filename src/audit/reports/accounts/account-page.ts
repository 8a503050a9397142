import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { type NumberedEntry, type Place, readAllLatestEntries } from '../../../ledger/indexes/latest-entries.ts'
import { type NamedHold, readBalancesAt, readHoldsAt } from './balances-at.ts'

export interface AccountQuery {
  /** Positions, both included: `last` is what the account is shown as of. */
  readonly first: number
  readonly last: number
  /** `next` of the page before. */
  readonly before?: Place | undefined
  readonly limit: number
}

export interface AccountPage {
  readonly account: string
  /** The last event that it includes. */
  readonly position: number
  /** Whole units (cents of a dollar), as of the position. */
  readonly balance: bigint
  readonly holds: readonly NamedHold[]
  /** The balance less the holds. */
  readonly available: bigint
  /** Newest first, each with the balance after it and its counter-account. */
  readonly movements: readonly NumberedEntry[]
  /** `before` of the next page; null at the end. */
  readonly next: Place | null
}

/** An account as of a position, with its movements of a period. Throws `IndexLagExceeded`. */
export async function readAccountPage(
  db: Kysely<Tables>,
  account: string,
  { first, last, before, limit }: AccountQuery,
): Promise<AccountPage> {
  const from = before ?? { position: last + 1, number: 0 }
  const [balances, holds, entries] = await Promise.all([
    readBalancesAt(db, [account], last),
    readHoldsAt(db, [account], last),
    readAllLatestEntries(db, { accounts: [account], numbered: [account], before: from, limit: limit + 1 }),
  ])
  const balance = balances.get(account) ?? 0n
  const within = entries.filter(({ position }) => position >= first)
  const movements = within.slice(0, limit)
  const oldest = movements.at(-1)
  return {
    account,
    position: last,
    balance,
    holds,
    available: holds.reduce((rest, { amount }) => rest - amount, balance),
    movements,
    next: within.length > limit && oldest !== undefined ? { position: oldest.position, number: oldest.number } : null,
  }
}
