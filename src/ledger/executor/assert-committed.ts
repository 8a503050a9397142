import { CommitOutcomeUnknown, codeOf, constraintOf, DuplicateIdempotencyKey, HeadConflict } from './failures.ts'
import type { StatementResult } from './pipelined-connection.ts'
import { HEAD_CONFLICT_CODE, REPLIES_CONSTRAINT } from './statements.ts'

/**
 * Throws what went wrong, if anything did, by the answers to all statements of a transaction. Under the lock all replies
 * were looked up: one that is remembered nevertheless is the fault of its command.
 */
export function assertCommitted(results: readonly PromiseSettledResult<StatementResult>[], locked: boolean): void {
  const answer = results.at(-1)
  const failure: unknown = results.find((result) => result.status === 'rejected')?.reason
  const word = answer?.status === 'fulfilled' ? answer.value.command : undefined
  if (word === 'COMMIT' && failure === undefined) return
  // A transaction in which a statement failed answers ROLLBACK; a constraint that is checked at the end, its name.
  // Whatever else came instead of an answer (a shutdown in the middle of it, say) tells nothing, nor does a COMMIT
  // after a failure: then there was no transaction.
  const over = word === 'ROLLBACK' || (answer?.status === 'rejected' && isViolation(answer.reason))
  if (!over) throw new CommitOutcomeUnknown('COMMIT was not plainly answered', { cause: failure })
  if (codeOf(failure) === HEAD_CONFLICT_CODE)
    throw new HeadConflict('somebody else has moved the head', { cause: failure })
  if (!locked && constraintOf(failure) === REPLIES_CONSTRAINT) {
    throw new DuplicateIdempotencyKey('a reply is remembered', { cause: failure })
  }
  throw failure ?? new Error('COMMIT was answered ROLLBACK')
}

const isViolation = (error: unknown): boolean => codeOf(error)?.startsWith('23') === true
