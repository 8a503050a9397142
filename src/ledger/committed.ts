import { codeOf, constraintOf, LostCommit, Moved, UsedBefore } from './failures.ts'
import type { Answer } from './pipeline.ts'
import { NOT_THERE, ONE_REPLY_A_KEY } from './statements.ts'

/**
 * Throws what went wrong, if anything did, by the answers to all statements of a transaction. Under the lock all replies
 * were looked up: one that is remembered nevertheless is the fault of its command.
 */
export function assertCommitted(results: readonly PromiseSettledResult<Answer>[], locked: boolean): void {
  const answer = results.at(-1)
  const failure = failureOf(results)
  const word = answer?.status === 'fulfilled' ? answer.value.command : undefined
  if (word === 'COMMIT' && failure === undefined) return
  // A transaction in which a statement failed answers ROLLBACK; a constraint that is checked at the end, its name.
  // Whatever else came instead of an answer (a shutdown in the middle of it, say) tells nothing, nor does a COMMIT
  // after a failure: then there was no transaction.
  const over = word === 'ROLLBACK' || (answer?.status === 'rejected' && isViolation(answer.reason))
  throw over ? reasonOf(failure, locked) : lost(failure)
}

/** As `assertCommitted`, of one statement that is a transaction by itself: it is answered when that is committed. */
export function assertDone(results: readonly PromiseSettledResult<Answer>[]): void {
  const failure = failureOf(results)
  if (failure !== undefined) throw endsTheStatement(failure) ? reasonOf(failure, false) : lost(failure)
}

const failureOf = (results: readonly PromiseSettledResult<Answer>[]): unknown =>
  results.find((result) => result.status === 'rejected')?.reason

const lost = (cause: unknown): LostCommit => new LostCommit('COMMIT was not plainly answered', { cause })

/** Why nothing happened. */
function reasonOf(failure: unknown, locked: boolean): unknown {
  if (codeOf(failure) === NOT_THERE) return new Moved('somebody else has moved the head', { cause: failure })
  if (!locked && constraintOf(failure) === ONE_REPLY_A_KEY) {
    return new UsedBefore('a reply is remembered', { cause: failure })
  }
  return failure ?? new Error('COMMIT was answered ROLLBACK')
}

const isViolation = (error: unknown): boolean => codeOf(error)?.startsWith('23') === true

/**
 * Whether this error ends a statement alone, so that nothing of it happened: of data, constraints, deadlocks, access,
 * resources, limits and locks. All others may end the session, perhaps when the commit is already done.
 */
const endsTheStatement = (error: unknown): boolean => /^(2[23]|4[02]|5[345])/.test(codeOf(error) ?? '')
