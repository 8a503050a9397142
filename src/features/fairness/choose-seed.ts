import type { Verb } from '../../ledger/rules/verb.ts'
import { chainId, type LuckyChains } from './lg1.ts'
import { type LuckyProgress, luckyKeys, openChain, openSeededChain, runningChain } from './lucky-progress.ts'

/** The caller's current chain and the next one, as published. */
export interface PublishedChains {
  readonly incarnation: string
  readonly chain: string
  readonly commitment: string
  readonly client_seed: string
  readonly next: string
  readonly next_commitment: string
}

export const publishedChains = (progress: LuckyProgress): PublishedChains => ({
  incarnation: progress.incarnation,
  chain: chainId(progress.user_id, progress.number),
  commitment: progress.commitment,
  client_seed: progress.client_seed,
  next: chainId(progress.user_id, progress.number + 1),
  next_commitment: progress.next_commitment,
})

/** Opens a chain for a user who has none, so that its commitment is published before any draw. Never refused. */
export const showChains = (chains: LuckyChains): Verb<{ readonly user_id: number }, PublishedChains> => ({
  refusals: [],
  reads: ({ user_id }) => luckyKeys(user_id),
  decide: (state, { user_id }) =>
    runningChain(state, user_id) === undefined ? [openChain(state, chains, user_id)] : [],
  result: (state, { user_id }) => {
    const running = runningChain(state, user_id)
    if (running === undefined) throw new Error(`user ${user_id} has no chain`)
    return publishedChains(running)
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
  reads: ({ user_id }) => luckyKeys(user_id),
  decide: (state, { user_id, client_seed }) => openSeededChain(state, chains, user_id, client_seed),
  result: showChains(chains).result,
})
