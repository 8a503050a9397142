import type { Game as PublishedGame } from '../../../schema/roulette.ts'
import { transfer, transferError } from '../../ledger/rules/movement.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { entryOf, gameAccount } from './game.ts'
import { type AtGame, answerAt, atGameFollows, atGameKeys, coinsOf, endOf, gameAt } from './game-lookup.ts'

/**
 * Is paid back in full and is out. Refusals in this order: `not_found` (room, game), `game_finished`,
 * `game_cancelled`, `not_joined`, `balance_limit`.
 */
export const leaveGame: Verb<AtGame, PublishedGame> = {
  reads: atGameKeys,
  dependentReads: atGameFollows,
  decide: (state, input) => {
    const game = gameAt(state, input)
    if (game === undefined) return refuse('not_found')
    const over = endOf(game)
    if (over !== undefined) return refuse(over)
    const entry = entryOf(game, input.caller_id)
    if (entry === undefined) return refuse('not_joined')
    const { game_id, room_id } = game
    const { user_id, stake } = entry
    const movements = [transfer(gameAccount(game_id), coinsOf(user_id), stake)]
    const stopped = transferError(state, movements)
    if (stopped !== undefined) return refuse(stopped)
    return [{ type: 'roulette-left', data: { game_id, room_id, user_id, stake }, movements }]
  },
  result: (state, input) => answerAt(state, input),
}
