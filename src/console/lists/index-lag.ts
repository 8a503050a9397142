import { Unavailable } from '../../ledger/executor/failures.ts'
import { IndexLagExceeded } from '../../ledger/indexes/latest-entries.ts'

/** Answers `unavailable` while the index of accounts is too far behind for a page to be complete. */
export async function orUnavailable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof IndexLagExceeded) throw new Unavailable('the index of accounts is behind', { cause: error })
    throw error
  }
}
