import type { Kysely } from 'kysely'
import { BatchedLookup, requestLimits } from '../../../db/queries/batched-lookup.ts'
import type { Tables } from '../../../db/tables.ts'
import { type LatestEntries, type Place, readLatestEntries } from '../../../ledger/indexes/latest-entries.ts'
import { account, type Currency, currencies } from '../../../ledger/rules/account.ts'

export interface HistoryPage {
  readonly userId: number
  /** Null for all. */
  readonly currency: Currency | null
  /** Only movements before this one; null for the newest. */
  readonly before: Place | null
  readonly limit: number
}

/** Pages of users' movements, newest first. They share the slots of other reads, each page with queries of its own. */
export const historyLookup = (db: Kysely<Tables>): BatchedLookup<HistoryPage, LatestEntries> =>
  new BatchedLookup(
    1,
    async (wanted: readonly HistoryPage[]) =>
      Promise.all(
        wanted.map(({ userId, currency, before, limit }) => {
          const numbered = currencies.map((name) => account('user', userId, name))
          const accounts = currency === null ? numbered : [account('user', userId, currency)]
          return readLatestEntries(db, { accounts, numbered, before, limit })
        }),
      ),
    requestLimits(db),
  )
