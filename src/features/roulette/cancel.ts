import { transfer, transferError } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type Game, gameAccount } from './game.ts'
import {
  coinAccount,
  dependentGameKeys,
  endedRefusal,
  findGameInRoom,
  type GameRequest,
  gameRequestKeys,
  requestedPlayerBalanceKeys,
} from './game-lookup.ts'

const refusals = [
  'not_found',
  'not_game_creator',
  'game_finished',
  'game_cancelled',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * The creator cancels a game; all stakes are refunded, in coins. Refusals, in this order: `not_found` (room, game),
 * `not_game_creator`, `game_finished`, `game_cancelled`, `balance_limit`.
 */
export const cancelGame: Verb<GameRequest, null, typeof refusals> = {
  refusals,
  reads: gameRequestKeys,
  dependentReads: (state, input) => [...dependentGameKeys(state, input), ...requestedPlayerBalanceKeys(state, input)],
  decide: (state, input) => {
    const game = findGameInRoom(state, input)
    if (game === undefined) return refuse('not_found')
    if (game.creator_id !== input.caller_id) return refuse('not_game_creator')
    const ended = endedRefusal(game)
    if (ended !== undefined) return refuse(ended)
    const cancelled = cancelledEvent(game)
    const error = transferError(state, cancelled.movements)
    return error === undefined ? [cancelled] : refuse(error)
  },
  result: () => null,
}

export const cancelledEvent = (game: Game): LedgerEvent<'roulette-cancelled'> => ({
  type: 'roulette-cancelled',
  data: { game_id: game.game_id, room_id: game.room_id, player_ids: game.entries.map(({ user_id }) => user_id) },
  movements: game.entries.map(({ user_id, stake }) => transfer(gameAccount(game.game_id), coinAccount(user_id), stake)),
})
