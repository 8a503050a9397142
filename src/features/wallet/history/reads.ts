import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { BatchedLookup, requestLimits } from '../../../db/queries/batched-lookup.ts'
import type { Tables } from '../../../db/tables.ts'
import { Unavailable } from '../../../ledger/executor/failures.ts'
import {
  IndexLagExceeded,
  type LatestEntries,
  type Place,
  readLatestEntries,
} from '../../../ledger/indexes/latest-entries.ts'
import { account, type Currency, currencies } from '../../../ledger/rules/account.ts'

/** How long a read waits for an index that is too far behind, and how often it looks. */
const MAX_WAIT_MS = 250
const LOOK_INTERVAL_MS = 50

export interface HistoryPage {
  readonly userId: number
  /** Null for all. */
  readonly currency: Currency | null
  /** Only movements before this one; null for the newest. */
  readonly before: Place | null
  readonly limit: number
}

/**
 * Pages of users' movements, newest first. Throws `Unavailable` while the index of accounts is too far behind. They
 * share the slots of other reads, each page with queries of its own.
 */
export function historyLookup(db: Kysely<Tables>): (page: HistoryPage) => Promise<LatestEntries> {
  const pages = new BatchedLookup(
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
  return async (page) => {
    for (const deadline = performance.now() + MAX_WAIT_MS; ; ) {
      try {
        return await pages.load(page)
      } catch (error) {
        if (!(error instanceof IndexLagExceeded)) throw error
        if (performance.now() >= deadline) throw new Unavailable('the index of accounts is behind', { cause: error })
      }
      await sleep(LOOK_INTERVAL_MS)
    }
  }
}
