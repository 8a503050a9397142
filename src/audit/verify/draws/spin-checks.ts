import type { EventData } from '../../../../schema/events.ts'
import { entriesHash, entryLines, spin, spinCommitment } from '../../../features/fairness/rr1.ts'
import { gameAccount, gameIdOf, games, potOf, prizeOf } from '../../../features/roulette/game.ts'
import { account } from '../../../ledger/rules/account.ts'
import type { EventWithoutMovements } from '../../../ledger/rules/event.ts'
import { incarnationIn } from '../../../ledger/rules/incarnation.ts'
import type { State } from '../../../ledger/rules/projection.ts'
import type { DrawColumns, DrawObserver } from './draw-observer.ts'

/**
 * Recomputes every spin, event by event: the winner from the committed seed and the entries, and the payment of the
 * prize. After a fault it goes on with the stored values, so that one wrong event is one fault.
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
    const paid = columns.amountMoved(gameAccount(game.game_id), account('user', data.winner_id, 'coins'))
    if (paid !== data.prize) addFault(`the prize is ${data.prize} coins, but ${paid} were paid`)
    this.#observer.onSpin(entries.length, r)
  }
}
