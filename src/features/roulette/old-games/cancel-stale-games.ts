import type { Verb } from '../../../ledger/rules/verb.ts'
import { cancelledEvent } from '../cancel.ts'
import { gameKeys } from '../game-lookup.ts'
import { candidateKeys, MICROS_PER_MINUTE, partitionCandidates } from './purge.ts'

/** A game in which nobody has been seated for so long is cancelled: it blocks its room. */
export const MAX_EMPTY_MINUTES = 2

export interface StaleGames {
  /** Games that were stale a moment ago. */
  readonly candidates: readonly number[]
  /** Since they were created; null when no game is too old. */
  readonly max_open_minutes: number | null
}

/**
 * Cancels games that nobody finished or in which nobody is seated, and pays everyone back: of the candidates those that
 * are still open and stale. One that cannot be paid back (a balance would pass the limit) stays open. Answers how many
 * were cancelled.
 */
export const cancelStaleGames: Verb<StaleGames, number> = {
  reads: ({ candidates }) => candidates.flatMap(gameKeys),
  dependentReads: (state, { candidates }) => candidateKeys(state, candidates),
  decide: (state, { candidates, max_open_minutes }, { now }) =>
    partitionCandidates(
      state,
      candidates,
      ({ empty_since, created_at }) =>
        (empty_since !== null && empty_since <= now - MAX_EMPTY_MINUTES * MICROS_PER_MINUTE) ||
        (max_open_minutes !== null && created_at <= now - max_open_minutes * MICROS_PER_MINUTE),
    ).payable.map((game) => cancelledEvent(game)),
  result: (_state, _input, events) => events.length,
}
