import { DatabaseError } from 'pg'

// Why a command, or a whole batch of them, did not happen.

/** The queue is full: nothing was done, come back later. */
export class Overloaded extends Error {}

/**
 * The database is away. Usually nothing was done; when the answer to COMMIT stayed lost for too long it is not
 * known here, and the same request under the same idempotency key tells.
 */
export class Unavailable extends Error {}

/** The executor is shutting down: nothing was done. */
export class Closed extends Error {}

/** COMMIT was sent and not plainly answered: ask `committed` on another connection. */
export class CommitOutcomeUnknown extends Error {}

/** The head was not, or may not have been, where it was thought to be: nothing happened, decide again on what is there now. */
export class HeadConflict extends Error {}

/** An idempotency key was taken to be new and is not: nothing happened, decide again once its reply is looked up. */
export class DuplicateIdempotencyKey extends HeadConflict {}

/** PostgreSQL's code for what it had against a statement. */
export const codeOf = (error: unknown): string | undefined => (error instanceof DatabaseError ? error.code : undefined)

/** Whether an operator, or another process that crashed, ended the session; a new one may work at once. */
export const endedTheSession = (error: unknown): boolean => ['57P01', '57P02'].includes(codeOf(error) ?? '')

/** The name of the constraint that it did not keep. */
export const constraintOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.constraint : undefined

/**
 * Data that PostgreSQL does not take (classes 22 and 23) and errors of our own come from one of the commands;
 * all else (a lock, a time limit, a full disk, a shutdown) says nothing about them.
 */
export function isCausedByCommand(error: unknown): boolean {
  const code = codeOf(error)
  return code === undefined || /^2[23]/.test(code)
}
