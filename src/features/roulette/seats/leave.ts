import type { RouletteEntry } from '../../../../schema/events.ts'
import { transfer, transferError } from '../../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../../ledger/rules/event.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { entryOf, type Game, gameAccount } from '../game.ts'
import {
  coinAccount,
  dependentGameKeys,
  endedRefusal,
  findGameInRoom,
  type GameRequest,
  gameRequestKeys,
  type NamedGame,
  namedGameAt,
} from '../game-lookup.ts'

const refusals = [
  'not_found',
  'game_finished',
  'game_cancelled',
  'not_joined',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * Refunds the stake, in coins, and removes the player from the game. Refusals, in this order: `not_found` (room, game),
 * `game_finished`, `game_cancelled`, `not_joined`, `balance_limit`.
 */
export const leaveGame: Verb<GameRequest, NamedGame, typeof refusals> = {
  refusals,
  reads: gameRequestKeys,
  dependentReads: dependentGameKeys,
  decide: (state, input) => {
    const game = findGameInRoom(state, input)
    if (game === undefined) return refuse('not_found')
    const ended = endedRefusal(game)
    if (ended !== undefined) return refuse(ended)
    const entry = entryOf(game, input.caller_id)
    if (entry === undefined) return refuse('not_joined')
    const left = leftEvent(game, entry)
    const error = transferError(state, left.movements)
    return error === undefined ? [left] : refuse(error)
  },
  result: (state, input) => namedGameAt(state, input),
}

/** The player gets the stake back. */
export const leftEvent = (
  { game_id, room_id }: Pick<Game, 'game_id' | 'room_id'>,
  { user_id, stake }: RouletteEntry,
): LedgerEvent<'roulette-left'> => ({
  type: 'roulette-left',
  data: { game_id, room_id, user_id, stake },
  movements: [transfer(gameAccount(game_id), coinAccount(user_id), stake)],
})
