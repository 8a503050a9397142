import { transfer, transferError } from '../../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../../ledger/rules/event.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { isMember } from '../../rooms/members/member.ts'
import { entryOf, type Game, gameAccount } from '../game.ts'
import {
  coinAccount,
  dependentGameKeys,
  findGameInRoom,
  type GameRequest,
  gameRequestKeys,
  type NamedGame,
  namedGameAt,
  unplayableRefusal,
} from '../game-lookup.ts'

export interface JoinGame extends GameRequest {
  /** May be empty. */
  readonly client_seed: string
}

const refusals = [
  'not_found',
  'not_room_member',
  'game_finished',
  'game_cancelled',
  'already_joined',
  'game_full',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * Pays the price, in coins, into the game's account and adds the player. Refusals, in this order: `not_found` (room,
 * game), `not_room_member`, `game_finished`, `game_cancelled`, `already_joined`, `game_full`, `insufficient_balance`.
 */
export const joinGame: Verb<JoinGame, NamedGame, typeof refusals> = {
  refusals,
  reads: gameRequestKeys,
  dependentReads: dependentGameKeys,
  decide: (state, input) => {
    const game = findGameInRoom(state, input)
    if (game === undefined) return refuse('not_found')
    if (!isMember(state, game.room_id, input.caller_id)) return refuse('not_room_member')
    const ended = unplayableRefusal(state, game)
    if (ended !== undefined) return refuse(ended)
    if (entryOf(game, input.caller_id) !== undefined) return refuse('already_joined')
    if (game.entries.length >= game.max_players) return refuse('game_full')
    const joined = joinedEvent(game, input.caller_id, input.client_seed)
    const error = transferError(state, joined.movements)
    return error === undefined ? [joined] : refuse(error)
  },
  result: (state, input) => namedGameAt(state, input),
}

export const joinedEvent = (
  { game_id, room_id, game_price }: Pick<Game, 'game_id' | 'room_id' | 'game_price'>,
  user_id: number,
  client_seed: string,
): LedgerEvent<'roulette-joined'> => ({
  type: 'roulette-joined',
  data: { game_id, room_id, user_id, stake: game_price, client_seed },
  movements: [transfer(coinAccount(user_id), gameAccount(game_id), game_price)],
})
