import type { EventData } from '../../../../schema/events.ts'
import type { LedgerEvent } from '../../../ledger/rules/event.ts'
import type { State } from '../../../ledger/rules/projection.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { drawOrder, type LuckyChains } from '../../fairness/lg1.ts'
import { nextSend } from '../../fairness/lucky-progress.ts'
import type { Decoration } from '../catalogue/decoration.ts'
import { nextStreak, type Streak } from '../streak.ts'
import { rewardOf, rowForNumber, totalWeight } from './odds.ts'

type DrawData = Pick<
  EventData<'gift-drawn'>,
  'incarnation' | 'chain' | 'k' | 'link' | 'announced' | 'client_seed' | 'odds_hash' | 'draws' | 'times' | 'won'
>

/** The draws of a send: one per order, all from one link of the sender's chain. */
export interface Draws {
  /** Events that open the chain first, if it is new. */
  readonly opening: readonly LedgerEvent[]
  readonly drawData: DrawData
  /** Diamonds won by all orders together. */
  readonly reward: number
}

/** `streak` is the count so far; `stake` is the diamonds of each order: price times quantity. */
export function drawOrders(
  state: State,
  chains: LuckyChains,
  send: { readonly sender_id: number; readonly receiver_ids: readonly number[] },
  decoration: Decoration,
  streak: Streak | undefined,
  stake: number,
  now: Micros,
): Draws {
  const { odds, odds_hash, decoration_id } = decoration
  if (odds_hash === null) throw new Error(`gift ${decoration_id} has odds but no hash`)
  const { opening, incarnation, chain, k, client_seed, announced } = nextSend(state, chains, send.sender_id)
  const link = chains.link({ incarnation, chain }, k)
  const weights = totalWeight(odds)
  const draws = send.receiver_ids.map((_, i) => {
    const { r } = drawOrder(link, chain, client_seed, k, i, weights)
    return { r, reward: rewardOf(stake, rowForNumber(odds, r)) }
  })
  const reward = draws.reduce((sum, draw) => sum + draw.reward, 0)
  const { times, won } = nextStreak(streak, now, reward)
  return {
    opening,
    drawData: {
      incarnation,
      chain,
      k,
      link: Buffer.from(link).toString('hex'),
      announced,
      client_seed,
      odds_hash,
      draws,
      times,
      won,
    },
    reward,
  }
}
