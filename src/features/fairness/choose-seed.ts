import { keyOf } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { chainId, type LuckyChains } from './lg1.ts'
import { type LuckyProgress, luckyProgress, openChain } from './lucky-progress.ts'

/** The caller's current chain and the next one, as published. */
export interface PublishedChains {
  readonly chain: string
  readonly commitment: string
  readonly client_seed: string
  readonly next: string
  readonly next_commitment: string
}

export const publishedChains = (progress: LuckyProgress): PublishedChains => ({
  chain: chainId(progress.user_id, progress.number),
  commitment: progress.commitment,
  client_seed: progress.client_seed,
  next: chainId(progress.user_id, progress.number + 1),
  next_commitment: progress.next_commitment,
})

/** Opens the user's first chain, if there is none, so that its commitment is published before any draw. Never refused. */
export const showChains = (chains: LuckyChains): Verb<{ readonly user_id: number }, PublishedChains> => ({
  refusals: [],
  reads: ({ user_id }) => [keyOf(luckyProgress, user_id)],
  decide: (state, { user_id }) =>
    state.get(luckyProgress, String(user_id)) === undefined ? [openChain(chains, user_id, 1, String(user_id))] : [],
  result: (state, { user_id }) => {
    const progress = state.get(luckyProgress, String(user_id))
    if (progress === undefined) throw new Error(`user ${user_id} has no chain`)
    return publishedChains(progress)
  },
})

/**
 * Ends the current chain and starts the next one with the user's own seed. The next chain's commitment was published
 * before, so it cannot have been chosen to suit the seed. For a user without a chain both are made now; calling
 * `GET /fairness/lucky` first gives that assurance. Never refused.
 */
export const chooseSeed = (
  chains: LuckyChains,
): Verb<{ readonly user_id: number; readonly client_seed: string }, PublishedChains> => ({
  refusals: [],
  reads: ({ user_id }) => [keyOf(luckyProgress, user_id)],
  decide: (state, { user_id, client_seed }) => {
    const progress = state.get(luckyProgress, String(user_id))
    if (progress !== undefined) return [openChain(chains, user_id, progress.number + 1, client_seed)]
    return [openChain(chains, user_id, 1, String(user_id)), openChain(chains, user_id, 2, client_seed)]
  },
  result: showChains(chains).result,
})
