import type { EventData } from '../../../../schema/events.ts'
import { tables } from '../../../domain.ts'
import {
  CHAIN_LENGTH,
  chainId,
  drawOrder,
  entriesHash,
  entryLines,
  spin,
  spinCommitment,
} from '../../../features/fairness/algorithms.ts'
import { nextChainNumber, runningChain } from '../../../features/fairness/lucky-chains.ts'
import { decorations, oddsTables } from '../../../features/gifts/decoration.ts'
import { oddsHash, rewardOf, rowForNumber, totalWeight } from '../../../features/gifts/odds.ts'
import { gameAccount, gameIdOf, games, potOf, prizeOf } from '../../../features/roulette/game.ts'
import type { ReplayState } from '../../../ledger/replay/replay.ts'
import { account } from '../../../ledger/rules/account.ts'
import type { EventWithoutMovements } from '../../../ledger/rules/event.ts'
import { sha256 } from '../../../ledger/rules/hash.ts'
import { incarnationIn } from '../../../ledger/rules/incarnation.ts'
import { integer, projection, type RowOf, type State, text } from '../../../ledger/rules/projection.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { type RowTable, rowTable } from '../../../ledger/storage/row-table.ts'

/** A user's current chain as its draws revealed it. */
const revealedChains = projection('revealed_chains', {
  user_id: integer(),
  /** The last link, as hex; before the first one the commitment. */
  link: text(),
  /** How many links there were. */
  k: integer(),
})

/** All tables that a replay keeps, with that of the checks of draws. */
export const replayedTables: readonly RowTable[] = [...tables, rowTable(revealedChains, { key: ['user_id'] })]

/**
 * Recomputes every lucky draw, event by event: the link by the commitment, the number from link and seed, the reward from
 * the number, and its payment. After a finding it continues with the stored values, so that one wrong event is one finding.
 */
export class LuckyChecks {
  readonly #observer: Pick<DrawObserver, 'onFault' | 'onLuckyDraw'>
  /** The last event that opened a chain which was not announced before. */
  #opening: { readonly user_id: number; readonly position: number; readonly requestId: string } | null = null

  constructor(observer: Pick<DrawObserver, 'onFault' | 'onLuckyDraw'>) {
    this.#observer = observer
  }

  /** `state`: replayed from the events before this one. */
  check(event: EventWithoutMovements, columns: DrawColumns, state: ReplayState): void {
    const addFault = (message: string): void => this.#observer.onFault(event.position, message)
    switch (event.type) {
      case 'decoration-defined':
        checkOdds(event.data, addFault)
        break
      case 'lucky-chain-opened':
        this.#checkChain(event.data, event.position, columns, state, addFault)
        break
      case 'gift-drawn':
        this.#checkDraw(event.data, event.position, columns, state, addFault)
        break
    }
  }

  #checkChain(
    data: EventData<'lucky-chain-opened'>,
    position: number,
    { requestId }: DrawColumns,
    state: ReplayState,
    addFault: (message: string) => void,
  ): void {
    const { user_id, incarnation, number, chain, next_chain, commitment } = data
    const running = runningChain(state, user_id)
    const expected = nextChainNumber(state, user_id)
    checkIncarnation(incarnation, state, addFault)
    if (number !== expected || chain !== chainId(user_id, expected) || next_chain !== chainId(user_id, expected + 1)) {
      addFault(`opens chain ${chain}, expected ${chainId(user_id, expected)}`)
    }
    if (running !== undefined && commitment !== running.next_commitment) {
      addFault(`chain ${chain} was announced with the commitment ${running.next_commitment}, not ${commitment}`)
    }
    if (running === undefined) this.#opening = { user_id, position, requestId }
    keepChain(state, { user_id, link: commitment, k: 0 })
  }

  #checkDraw(
    data: EventData<'gift-drawn'>,
    position: number,
    columns: DrawColumns,
    state: ReplayState,
    addFault: (message: string) => void,
  ): void {
    const {
      sender_id,
      incarnation,
      chain,
      k,
      link,
      announced,
      client_seed,
      decoration_id,
      odds_hash,
      price,
      quantity,
      draws,
    } = data
    const running = runningChain(state, sender_id)
    const before = state.get(revealedChains, String(sender_id))
    keepChain(state, { user_id: sender_id, link, k })
    checkIncarnation(incarnation, state, addFault)
    const isOpenedHere =
      this.#opening?.user_id === sender_id &&
      this.#opening.position === position - 1 &&
      this.#opening.requestId === columns.requestId
    if (announced === isOpenedHere) {
      addFault(`chain ${chain} ${isOpenedHere ? 'was opened by the send itself' : 'was announced before the send'}`)
    }
    if (running === undefined) return addFault(`user ${sender_id} has no chain`)
    if (chain !== chainId(sender_id, running.number)) addFault(`chain ${chain} is not the user's current chain`)
    if (client_seed !== running.client_seed)
      addFault(`the client seed is ${client_seed}, expected ${running.client_seed}`)
    const used = before?.k ?? 0
    if (k !== used + 1 || k > CHAIN_LENGTH) addFault(`send ${k} of chain ${chain} follows send ${used}`)
    const key = Buffer.from(link, 'hex')
    if (sha256(key) !== before?.link) addFault('the hash of the link is not the link before it')

    const gift = state.get(decorations, String(decoration_id))
    if (gift?.odds_hash !== odds_hash || gift.price !== price)
      addFault(`gift ${decoration_id} had a different price or odds`)
    const odds = state.get(oddsTables, odds_hash)?.odds
    if (odds === undefined || odds.length === 0) return addFault(`there is no odds table ${odds_hash}`)
    if (draws.length !== data.receiver_ids.length)
      addFault(`${draws.length} orders were drawn for ${data.receiver_ids.length} receivers`)
    const weight = totalWeight(odds)
    let won = 0
    for (const [i, order] of draws.entries()) {
      const { r } = drawOrder(key, chain, client_seed, k, i, weight)
      const reward = rewardOf(price * quantity, rowForNumber(odds, r))
      if (order.r !== r || order.reward !== reward) {
        addFault(`order ${i} drew ${order.r} and wins ${order.reward}, expected ${r} and ${reward}`)
      }
      won += order.reward
      this.#observer.onLuckyDraw(odds_hash, r, announced)
    }
    const paid = amountMoved(columns, account('house', 'gifts', 'diamonds'), account('user', sender_id, 'diamonds'))
    if (paid !== won) addFault(`the orders win ${won} diamonds, but ${paid} were paid`)
  }
}

/** For good, even when the rules reject the event. */
function keepChain(state: ReplayState, row: RowOf<typeof revealedChains>): void {
  state.set(revealedChains, String(row.user_id), row)
  state.checkpoint()
}

function checkIncarnation(incarnation: string, state: State, addFault: (message: string) => void): void {
  const present = incarnationIn(state)
  if (incarnation !== present) addFault(`the incarnation is ${incarnation}, expected ${present}`)
}

function checkOdds(
  { decoration_id, odds, odds_hash }: EventData<'decoration-defined'>,
  addFault: (message: string) => void,
): void {
  const expected = odds.length === 0 ? null : oddsHash(decoration_id, odds)
  if (odds_hash !== expected) addFault(`the hash of the odds is ${odds_hash}, expected ${expected}`)
}

/**
 * Recomputes every spin, event by event: the winner from the committed seed and the entries, and the payment of the
 * prize. After a finding it continues with the stored values, so that one wrong event is one finding.
 */
export class SpinChecks {
  readonly #observer: Pick<DrawObserver, 'onFault' | 'onSpin'>

  constructor(observer: Pick<DrawObserver, 'onFault' | 'onSpin'>) {
    this.#observer = observer
  }

  /** `state`: replayed from the events before this one. */
  check(event: EventWithoutMovements, columns: DrawColumns, state: State): void {
    const addFault = (message: string): void => this.#observer.onFault(event.position, message)
    switch (event.type) {
      case 'roulette-created':
        // The seed is derived from the uid: a copied uid would have another game's seed.
        if (gameIdOf(event.data.game_uid) !== event.position) addFault(`the game's uid is ${event.data.game_uid}`)
        if (event.data.incarnation !== incarnationIn(state)) addFault(`its incarnation is ${event.data.incarnation}`)
        break
      case 'roulette-finished':
        this.#checkSpin(event.data, columns, state, addFault)
        break
    }
  }

  #checkSpin(
    data: EventData<'roulette-finished'>,
    columns: DrawColumns,
    state: State,
    addFault: (message: string) => void,
  ): void {
    const game = state.get(games, String(data.game_id))
    if (game === undefined) return addFault(`there is no game ${data.game_id}`)
    const { entries, uid, incarnation, commitment, fee_percent } = game
    if (incarnation !== incarnationIn(state)) addFault('the game was created before commits were lost')
    const seed = Buffer.from(data.server_seed, 'hex')
    if (spinCommitment(uid, seed) !== commitment) addFault('the seed does not match its commitment')
    if (entryLines(data.entries) !== entryLines(entries)) addFault('the entries are not the players who joined')
    if (data.entries_hash !== entriesHash(entries)) addFault('the hash of the entries is wrong')
    if (entries.length === 0) return addFault('there are no players')
    const { r } = spin(seed, uid, entries)
    const winner = entries[r]?.user_id
    if (data.draw !== r || data.winner_id !== winner) {
      addFault(`the spin drew ${data.draw}, user ${data.winner_id}, expected ${r}, user ${winner}`)
    }
    const pot = potOf(game)
    const prize = prizeOf(pot, fee_percent)
    if (data.prize !== prize || data.fee !== pot - prize) {
      addFault(`the prize is ${data.prize} and the fee ${data.fee}, expected ${prize} and ${pot - prize}`)
    }
    const paid = amountMoved(columns, gameAccount(game.game_id), account('user', data.winner_id, 'coins'))
    if (paid !== data.prize) addFault(`the prize is ${data.prize} coins, but ${paid} were paid`)
    this.#observer.onSpin(entries.length, r)
  }
}

/** Callbacks of the checks of draws, in the order of the ledger. */
export interface DrawObserver {
  /** The draw at a position does not match what was published before it. */
  readonly onFault: (position: number, message: string) => void
  /**
   * An order was drawn; `r` is below the total weight of the odds table. `announced`: the draw says that the commitment of
   * its chain was on the ledger before the send.
   */
  readonly onLuckyDraw: (oddsHash: string, r: number, announced: boolean) => void
  /** A spin: the index of the winner among so many players. */
  readonly onSpin: (players: number, draw: number) => void
}

/** What checks of draws read of an event besides its data; all events of a command have one request id. */
type DrawColumns = Pick<LedgerEntry, 'requestId' | 'movements'>

const amountMoved = ({ movements }: DrawColumns, from: string, to: string): number =>
  movements.reduce((sum, { debit, credit, amount }) => (debit === from && credit === to ? sum + amount : sum), 0)
