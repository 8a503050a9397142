import { constraintOf, isConstraintViolation, sqlStateOf } from '../../db/postgres-errors.ts'
import { CommitOutcomeUnknown, DuplicateIdempotencyKey, HeadConflict, LedgerWentBack } from './failures.ts'
import type { StatementResult } from './pipelined-connection.ts'
import { HEAD_CONFLICT_CODE, REPLIES_CONSTRAINT } from './statements.ts'

/**
 * Throws unless the transaction committed, as the results of all its statements show, COMMIT the last. In pessimistic
 * mode all replies were looked up, so that a duplicate key there is the fault of its command; and the head was locked, so
 * that it can fail to move only because commits were lost.
 */
export function assertCommitted(
  results: readonly PromiseSettledResult<StatementResult>[],
  mode: 'pessimistic' | 'optimistic',
): void {
  const last = results.at(-1)
  const failure: unknown = results.find((result) => result.status === 'rejected')?.reason
  const tag = last?.status === 'fulfilled' ? last.value.command : undefined
  if (tag === 'COMMIT' && failure === undefined) return
  // COMMIT answers ROLLBACK after a failed statement, and a violation when a deferred constraint fails. Anything else
  // (a shutdown in between, say) proves nothing, nor does COMMIT after a failure: then there was no transaction.
  const isRolledBack = tag === 'ROLLBACK' || (last?.status === 'rejected' && isConstraintViolation(last.reason))
  if (!isRolledBack) throw new CommitOutcomeUnknown('COMMIT was not clearly answered', { cause: failure })
  if (sqlStateOf(failure) === HEAD_CONFLICT_CODE) {
    if (mode === 'pessimistic') throw new LedgerWentBack('commits were lost', { cause: failure })
    throw new HeadConflict('another batch has moved the head', { cause: failure })
  }
  if (mode === 'optimistic' && constraintOf(failure) === REPLIES_CONSTRAINT) {
    throw new DuplicateIdempotencyKey('a reply is already stored under this key', { cause: failure })
  }
  throw failure ?? new Error('COMMIT was answered ROLLBACK')
}
