import { incarnationIn, incarnationKey } from '../../../ledger/rules/incarnation.ts'
import type { Verb } from '../../../ledger/rules/verb.ts'
import { cancelledEvent } from '../cancel.ts'
import { gameKeys } from '../game-lookup.ts'
import { candidateKeys, MICROS_PER_MINUTE, partitionCandidates } from './purge.ts'

/** A game without players is cancelled after this time, because it blocks its room. */
export const MAX_EMPTY_MINUTES = 2

export interface StaleGames {
  /** Ids of games that were stale when they were read. */
  readonly candidates: readonly number[]
  /** Maximum age of an open game since creation; null for no limit. */
  readonly max_open_minutes: number | null
}

/**
 * Cancels candidates that are still open and stale (without players, too old, or from before commits were lost) and refunds
 * all stakes, in coins. A game that cannot be refunded (a balance would exceed the limit) stays open. Returns the number of
 * cancelled games.
 */
export const cancelStaleGames: Verb<StaleGames, number> = {
  refusals: [],
  reads: ({ candidates }) => [incarnationKey, ...candidates.flatMap(gameKeys)],
  dependentReads: (state, { candidates }) => candidateKeys(state, candidates),
  decide: (state, { candidates, max_open_minutes }, { now }) =>
    partitionCandidates(
      state,
      candidates,
      ({ empty_since, created_at, incarnation }) =>
        incarnation !== incarnationIn(state) ||
        (empty_since !== null && empty_since <= now - MAX_EMPTY_MINUTES * MICROS_PER_MINUTE) ||
        (max_open_minutes !== null && created_at <= now - max_open_minutes * MICROS_PER_MINUTE),
    ).payable.map((game) => cancelledEvent(game)),
  result: (_state, _input, events) => events.length,
}
