import { integer, text } from '../../ledger/rules/columns.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { State } from '../../ledger/rules/state.ts'
import { CHAIN_LENGTH, chainId, type LuckyChains } from './lg1.ts'

/** A user's current chain and how much of it is used. */
export const luckyProgress = projection('lucky_progress', {
  user_id: integer(),
  /** The current chain is `<user_id>-<number>`. */
  number: integer(),
  /** Links of the chain that were revealed by draws. */
  used: integer(),
  client_seed: text(),
  commitment: text(),
  next_commitment: text(),
})

export type LuckyProgress = RowOf<typeof luckyProgress>

/** A chain with a published commitment. */
export const publishedLuckyChains = projection('lucky_chains', {
  chain: text(),
  user_id: integer(),
  commitment: text(),
  /** SHA-256 of the fairness key that it is derived from. */
  fairness_key: text(),
})

export const evolveLuckyChains: Evolver = {
  'lucky-chain-opened': (state, { data }) => {
    const { user_id, chain, number, commitment, client_seed, next_chain, next_commitment, fairness_key } = data
    state.set(luckyProgress, String(user_id), { user_id, number, used: 0, client_seed, commitment, next_commitment })
    state.set(publishedLuckyChains, chain, { chain, user_id, commitment, fairness_key })
    state.set(publishedLuckyChains, next_chain, {
      chain: next_chain,
      user_id,
      commitment: next_commitment,
      fairness_key,
    })
  },
  'gift-drawn': (state, { data }) => {
    const progress = state.get(luckyProgress, String(data.sender_id))
    if (progress === undefined) throw new Error(`user ${data.sender_id} has no chain`)
    state.set(luckyProgress, String(data.sender_id), { ...progress, used: data.k })
  },
}

/** The event that opens chain `number` of a user and commits to the one after it. */
export function openChain(
  chains: LuckyChains,
  userId: number,
  number: number,
  clientSeed: string,
): LedgerEvent<'lucky-chain-opened'> {
  const chain = chainId(userId, number)
  const next = chainId(userId, number + 1)
  return {
    type: 'lucky-chain-opened',
    data: {
      user_id: userId,
      chain,
      number,
      commitment: chains.commitment(chain),
      client_seed: clientSeed,
      next_chain: next,
      next_commitment: chains.commitment(next),
      fairness_key: chains.keyHash,
    },
    movements: [],
  }
}

/** The link for the next send: of the current chain, or of a new one that `opening` opens first. */
export interface NextSend {
  readonly opening: readonly LedgerEvent<'lucky-chain-opened'>[]
  readonly chain: string
  readonly k: number
  readonly clientSeed: string
}

export function nextSend(state: State, chains: LuckyChains, userId: number): NextSend {
  const progress = state.get(luckyProgress, String(userId))
  if (progress !== undefined && progress.used < CHAIN_LENGTH) {
    const { number, used, client_seed } = progress
    return { opening: [], chain: chainId(userId, number), k: used + 1, clientSeed: client_seed }
  }
  const number = (progress?.number ?? 0) + 1
  // The default seed is the user's id.
  const clientSeed = progress?.client_seed ?? String(userId)
  return {
    opening: [openChain(chains, userId, number, clientSeed)],
    chain: chainId(userId, number),
    k: 1,
    clientSeed,
  }
}
