import type { EventData } from '../../../../schema/events.ts'
import { CHAIN_LENGTH, chainId, drawOrder } from '../../../features/fairness/lg1.ts'
import { luckyProgress } from '../../../features/fairness/lucky-progress.ts'
import { decorations, oddsTables } from '../../../features/gifts/catalogue/decoration.ts'
import { oddsHash, rewardOf, rowForNumber, totalWeight } from '../../../features/gifts/lucky/odds.ts'
import { account } from '../../../ledger/rules/account.ts'
import type { Fact } from '../../../ledger/rules/event.ts'
import { sha256 } from '../../../ledger/rules/hash.ts'
import type { State } from '../../../ledger/rules/state.ts'
import type { DrawObserver, PaidAmounts } from './draw-observer.ts'

/**
 * Recomputes every lucky draw, event by event: links from the commitments, numbers from links and seeds, rewards from
 * the numbers, and that they were paid. Goes on after a fault as if what is stored were right.
 */
export class LuckyChecks {
  readonly #observer: Pick<DrawObserver, 'onFault' | 'onLuckyDraw'>
  /** The last link of each user's running chain, as hex, and how many draws it had; before the first its commitment. */
  readonly #links = new Map<number, { readonly link: string; readonly k: number }>()

  constructor(observer: Pick<DrawObserver, 'onFault' | 'onLuckyDraw'>) {
    this.#observer = observer
  }

  /** `state` is all that follows from the events before this one. */
  check(event: Fact, moved: PaidAmounts, state: State): void {
    const find = (message: string): void => this.#observer.onFault(event.position, message)
    switch (event.type) {
      case 'decoration-defined':
        checkOdds(event.data, find)
        break
      case 'lucky-chain-opened':
        this.#checkChain(event.data, state, find)
        break
      case 'gift-drawn':
        this.#checkDraw(event.data, moved, state, find)
        break
    }
  }

  #checkChain(data: EventData<'lucky-chain-opened'>, state: State, find: (message: string) => void): void {
    const { user_id, number, chain, next_chain, commitment } = data
    const running = state.get(luckyProgress, String(user_id))
    const ought = (running?.number ?? 0) + 1
    if (number !== ought || chain !== chainId(user_id, ought) || next_chain !== chainId(user_id, ought + 1)) {
      find(`opens chain ${chain}, and ${chainId(user_id, ought)} comes next`)
    }
    if (running !== undefined && commitment !== running.next_commitment) {
      find(`chain ${chain} was announced with the commitment ${running.next_commitment}, not ${commitment}`)
    }
    this.#links.set(user_id, { link: commitment, k: 0 })
  }

  #checkDraw(data: EventData<'gift-drawn'>, moved: PaidAmounts, state: State, find: (message: string) => void): void {
    const { sender_id, chain, k, link, client_seed, decoration_id, odds_hash, price, quantity, draws } = data
    const running = state.get(luckyProgress, String(sender_id))
    const before = this.#links.get(sender_id)
    this.#links.set(sender_id, { link, k })
    if (running === undefined) return find(`user ${sender_id} has no chain`)
    if (chain !== chainId(sender_id, running.number)) find(`chain ${chain} does not run`)
    if (client_seed !== running.client_seed) find(`the client seed is ${client_seed}, not ${running.client_seed}`)
    const used = before?.k ?? 0
    if (k !== used + 1 || k > CHAIN_LENGTH) find(`send ${k} of chain ${chain} comes after send ${used}`)
    const key = Buffer.from(link, 'hex')
    if (sha256(key) !== before?.link) find(`the link does not lead to the one before it`)

    const gift = state.get(decorations, String(decoration_id))
    if (gift?.odds_hash !== odds_hash || gift.price !== price) find(`gift ${decoration_id} had another price or odds`)
    const odds = state.get(oddsTables, odds_hash)?.odds
    if (odds === undefined || odds.length === 0) return find(`there is no odds table ${odds_hash}`)
    if (draws.length !== data.receiver_ids.length) find(`${draws.length} orders were drawn for other receivers`)
    const weight = totalWeight(odds)
    let won = 0
    for (const [i, order] of draws.entries()) {
      const { r } = drawOrder(key, chain, client_seed, k, i, weight)
      const reward = rewardOf(price * quantity, rowForNumber(odds, r))
      if (order.r !== r || order.reward !== reward) {
        find(`order ${i} drew ${r} and wins ${reward}, not ${order.r} and ${order.reward}`)
      }
      won += order.reward
      this.#observer.onLuckyDraw(odds_hash, r)
    }
    const paid = moved.amountMoved(account('house', 'gifts', 'diamonds'), account('user', sender_id, 'diamonds'))
    if (paid !== won) find(`the orders win ${won} diamonds and ${paid} are paid`)
  }
}

function checkOdds(
  { decoration_id, odds, odds_hash }: EventData<'decoration-defined'>,
  find: (m: string) => void,
): void {
  const ought = odds.length === 0 ? null : oddsHash(decoration_id, odds)
  if (odds_hash !== ought) find(`the hash of the odds is ${ought}, not ${odds_hash}`)
}
