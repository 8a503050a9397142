import type { EventData } from '../../../../schema/events.ts'
import { entriesHash, entryLines, spin, spinCommitment } from '../../../features/fairness/rr1.ts'
import { gameAccount, gameIdOf, games, potOf, prizeOf } from '../../../features/roulette/game.ts'
import { account } from '../../../ledger/rules/account.ts'
import type { Fact } from '../../../ledger/rules/event.ts'
import type { State } from '../../../ledger/rules/state.ts'
import type { DrawObserver, PaidAmounts } from './draw-observer.ts'

/**
 * Recomputes every spin, event by event: the winner from the seed that was committed to and from who joined, and that
 * the prize was paid. Goes on after a fault as if what is stored were right.
 */
export class SpinChecks {
  readonly #observer: Pick<DrawObserver, 'onFault' | 'onSpin'>

  constructor(observer: Pick<DrawObserver, 'onFault' | 'onSpin'>) {
    this.#observer = observer
  }

  /** `state` is all that follows from the events before this one. */
  check(event: Fact, moved: PaidAmounts, state: State): void {
    const find = (message: string): void => this.#observer.onFault(event.position, message)
    switch (event.type) {
      case 'roulette-created':
        // With the uid of another game it would have the seed of that one.
        if (gameIdOf(event.data.game_uid) !== event.position) find(`the game's uid is ${event.data.game_uid}`)
        break
      case 'roulette-finished':
        this.#checkSpin(event.data, moved, state, find)
        break
    }
  }

  #checkSpin(
    data: EventData<'roulette-finished'>,
    moved: PaidAmounts,
    state: State,
    find: (message: string) => void,
  ): void {
    const game = state.get(games, String(data.game_id))
    if (game === undefined) return find(`there is no game ${data.game_id}`)
    const { entries, uid, commitment, fee_percent } = game
    const seed = Buffer.from(data.server_seed, 'hex')
    if (spinCommitment(uid, seed) !== commitment) find('the seed is not the one that was committed to')
    if (entryLines(data.entries) !== entryLines(entries)) find('the entries are not those who joined')
    if (data.entries_hash !== entriesHash(entries)) find('the hash of the entries is another one')
    if (entries.length === 0) return find('nobody plays')
    const { r } = spin(seed, uid, entries)
    const winner = entries[r]?.user_id
    if (data.draw !== r || data.winner_id !== winner) {
      find(`the spin draws ${r}, user ${winner}, not ${data.draw}, user ${data.winner_id}`)
    }
    const pot = potOf(game)
    const prize = prizeOf(pot, fee_percent)
    if (data.prize !== prize || data.fee !== pot - prize) {
      find(`the prize is ${prize} and the fee ${pot - prize}, not ${data.prize} and ${data.fee}`)
    }
    const paid = moved.amountMoved(gameAccount(game.game_id), account('user', data.winner_id, 'coins'))
    if (paid !== data.prize) find(`the winner wins ${data.prize} coins and is paid ${paid}`)
    this.#observer.onSpin(entries.length, r)
  }
}
