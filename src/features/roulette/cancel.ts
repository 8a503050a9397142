import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { transfer, transferError } from '../../ledger/rules/movement.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type Game, gameAccount } from './game.ts'
import { type AtGame, atGameFollows, atGameKeys, coinsOf, endOf, gameAt, purseKeys } from './game-lookup.ts'

/**
 * The creator cancels; everyone is paid back. Refusals in this order: `not_found` (room, game), `not_game_creator`,
 * `game_finished`, `game_cancelled`, `balance_limit`.
 */
export const cancelGame: Verb<AtGame, null> = {
  reads: atGameKeys,
  dependentReads: (state, input) => [...atGameFollows(state, input), ...purseKeys(state, input)],
  decide: (state, input) => {
    const game = gameAt(state, input)
    if (game === undefined) return refuse('not_found')
    if (game.creator_id !== input.caller_id) return refuse('not_game_creator')
    const over = endOf(game)
    if (over !== undefined) return refuse(over)
    const cancelled = cancelling(game)
    const stopped = transferError(state, cancelled.movements)
    return stopped === undefined ? [cancelled] : refuse(stopped)
  },
  result: () => null,
}

export const cancelling = (game: Game): LedgerEvent<'roulette-cancelled'> => ({
  type: 'roulette-cancelled',
  data: { game_id: game.game_id, room_id: game.room_id, player_ids: game.entries.map(({ user_id }) => user_id) },
  movements: game.entries.map(({ user_id, stake }) => transfer(gameAccount(game.game_id), coinsOf(user_id), stake)),
})
