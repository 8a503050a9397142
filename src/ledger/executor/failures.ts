import { isDataError, sqlStateOf } from '../../db/postgres-errors.ts'

// Why a command, or a whole batch of them, did not happen.

/** The queue is full: nothing was done, and the command may be sent again later. */
export class Overloaded extends Error {}

/**
 * The database cannot be reached. Usually nothing was done. When the outcome of COMMIT could not be found out in time,
 * it is unknown: only the same request under the same idempotency key shows it.
 */
export class Unavailable extends Error {}

/** Commits were lost, and nothing is done before that is dealt with: nothing was done. */
export class LedgerWentBack extends Unavailable {
  override readonly name = 'LedgerWentBack'
}

/** The database is a standby, which takes no writes: nothing was done. */
export class DatabaseIsStandby extends Unavailable {
  override readonly name = 'DatabaseIsStandby'
}

/** The executor is shutting down: nothing was done. */
export class Closed extends Error {}

/** COMMIT was sent and not clearly answered: `Store.isCommitted` on another connection finds out. */
export class CommitOutcomeUnknown extends Error {}

/** The batch was decided on a head that is not, or may not be, the ledger's: nothing happened, decide again. */
export class HeadConflict extends Error {}

/** An idempotency key was taken to be new and is not: nothing happened, look up its reply and decide again. */
export class DuplicateIdempotencyKey extends HeadConflict {}

/**
 * Data that PostgreSQL does not accept and errors of our own come from one of the commands; everything else (a lock, a
 * timeout, a full disk, a shutdown) does not.
 */
export const isCausedByCommand = (error: unknown): boolean => sqlStateOf(error) === undefined || isDataError(error)
