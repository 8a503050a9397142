import type { Evolver, LedgerEvent } from '../../ledger/rules/event.ts'
import { incarnationIn, incarnationKey } from '../../ledger/rules/incarnation.ts'
import {
  integer,
  type Key,
  keyOf,
  projection,
  type RowOf,
  type State,
  text,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { CHAIN_LENGTH, chainId, type LuckyChains } from './algorithms.ts'

/** A user's current chain and how much of it is used. */
export const luckyProgress = projection('lucky_progress', {
  user_id: integer(),
  incarnation: text(),
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
  incarnation: text(),
  chain: text(),
  user_id: integer(),
  commitment: text(),
  /** SHA-256 of the fairness key that it is derived from. */
  fairness_key: text(),
})

export const evolveLuckyChains: Evolver = {
  'lucky-chain-opened': (state, { data }) => {
    const { user_id, incarnation, chain, number, commitment, client_seed, next_chain, next_commitment, fairness_key } =
      data
    state.set(luckyProgress, String(user_id), {
      user_id,
      incarnation,
      number,
      used: 0,
      client_seed,
      commitment,
      next_commitment,
    })
    publish(state, { incarnation, chain, user_id, commitment, fairness_key })
    publish(state, { incarnation, chain: next_chain, user_id, commitment: next_commitment, fairness_key })
  },
  'gift-drawn': (state, { data }) => {
    const progress = state.get(luckyProgress, String(data.sender_id))
    if (progress === undefined) throw new Error(`user ${data.sender_id} has no chain`)
    state.set(luckyProgress, String(data.sender_id), { ...progress, used: data.k })
  },
}

const publish = (state: WritableState, row: RowOf<typeof publishedLuckyChains>): void =>
  state.set(publishedLuckyChains, `${row.incarnation}:${row.chain}`, row)

/** The rows that say where a user's draws stand. */
export const luckyKeys = (userId: number): readonly Key[] => [keyOf(luckyProgress, userId), incarnationKey]

/** The user's chains of the current incarnation; a chain of an earlier one draws nothing any more. */
export function runningChain(state: State, userId: number): LuckyProgress | undefined {
  const progress = state.get(luckyProgress, String(userId))
  return progress?.incarnation === incarnationIn(state) ? progress : undefined
}

/** One above the highest chain that the ledger names for the user; in this incarnation that is the one after the running. */
export function nextChainNumber(state: State, userId: number): number {
  const last = state.get(luckyProgress, String(userId))
  if (last === undefined) return 1
  // In an earlier incarnation the one after the last chain was announced, and may have been drawn from in what was lost.
  return last.number + (last.incarnation === incarnationIn(state) ? 1 : 2)
}

/** The event that opens a chain, the user's next one unless `number` says another, and commits to the one after it. */
function opening(
  state: State,
  chains: LuckyChains,
  user_id: number,
  client_seed: string,
  number = nextChainNumber(state, user_id),
): LedgerEvent<'lucky-chain-opened'> {
  const incarnation = incarnationIn(state)
  const chain = chainId(user_id, number)
  const next_chain = chainId(user_id, number + 1)
  return {
    type: 'lucky-chain-opened',
    data: {
      user_id,
      incarnation,
      chain,
      number,
      commitment: chains.commitment({ incarnation, chain }),
      client_seed,
      next_chain,
      next_commitment: chains.commitment({ incarnation, chain: next_chain }),
      fairness_key: chains.keyHash,
    },
    movements: [],
  }
}

/** Opens the user's next chain with the seed of the one before it; at first the seed is the user's id. */
const openChain = (state: State, chains: LuckyChains, userId: number): LedgerEvent<'lucky-chain-opened'> =>
  opening(state, chains, userId, state.get(luckyProgress, String(userId))?.client_seed ?? String(userId))

/** The link for the next send: of the current chain, or of a new one that `opening` opens first. */
interface NextSend {
  readonly opening: readonly LedgerEvent<'lucky-chain-opened'>[]
  readonly incarnation: string
  readonly chain: string
  readonly k: number
  readonly client_seed: string
  /** Whether the commitment of the chain was on the ledger before. */
  readonly announced: boolean
}

export function nextSend(state: State, chains: LuckyChains, userId: number): NextSend {
  const running = runningChain(state, userId)
  if (running !== undefined && running.used < CHAIN_LENGTH) {
    const { incarnation, number, used, client_seed } = running
    return { opening: [], incarnation, chain: chainId(userId, number), k: used + 1, client_seed, announced: true }
  }
  const opened = openChain(state, chains, userId)
  const { incarnation, chain, client_seed } = opened.data
  return { opening: [opened], incarnation, chain, k: 1, client_seed, announced: running !== undefined }
}

/** A user's current chain and the next one, as published. */
export const publishedChains = (progress: LuckyProgress) => ({
  incarnation: progress.incarnation,
  chain: chainId(progress.user_id, progress.number),
  commitment: progress.commitment,
  client_seed: progress.client_seed,
  next: chainId(progress.user_id, progress.number + 1),
  next_commitment: progress.next_commitment,
})

type PublishedChains = ReturnType<typeof publishedChains>

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
  decide: (state, { user_id, client_seed }) =>
    runningChain(state, user_id) !== undefined
      ? [opening(state, chains, user_id, client_seed)]
      : [
          openChain(state, chains, user_id),
          opening(state, chains, user_id, client_seed, nextChainNumber(state, user_id) + 1),
        ],
  result: showChains(chains).result,
})
