import type { RouletteEntry } from '../../../schema/events.ts'
import { balances, transfer, transferError } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf, type State } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { isMember, type Seats } from '../rooms/member.ts'
import { entryOf, type Game, gameAccount, games, openGames } from './game.ts'
import {
  coinAccount,
  dependentGameKeys,
  endedRefusal,
  findGameInRoom,
  type GameRequest,
  gameKeys,
  gameRequestKeys,
  type NamedGame,
  namedGameAt,
  unplayableRefusal,
} from './game-lookup.ts'

/** Seats in open games, for those who leave a room. */
export const seats: Seats = {
  keys: (state, roomId, userId) => {
    const id = state.isLoaded(openGames, String(roomId)) ? openGameId(state, roomId) : undefined
    const seatKeys = id === undefined ? [] : [...gameKeys(id), keyOf(balances, coinAccount(userId))]
    return [keyOf(openGames, roomId), ...seatKeys]
  },
  refund: (state, roomId, userId) => {
    const game = openGame(state, roomId)
    const entry = game && entryOf(game, userId)
    return game === undefined || entry === undefined ? undefined : leftEvent(game, entry)
  },
}

const openGameId = (state: State, roomId: number): number | undefined => state.get(openGames, String(roomId))?.game_id

function openGame(state: State, roomId: number): Game | undefined {
  const id = openGameId(state, roomId)
  return id === undefined ? undefined : state.get(games, String(id))
}

export interface JoinGame extends GameRequest {
  /** May be empty. */
  readonly client_seed: string
}

const joinRefusals = [
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
export const joinGame: Verb<JoinGame, NamedGame, typeof joinRefusals> = {
  refusals: joinRefusals,
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

const leaveRefusals = [
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
export const leaveGame: Verb<GameRequest, NamedGame, typeof leaveRefusals> = {
  refusals: leaveRefusals,
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
const leftEvent = (
  { game_id, room_id }: Pick<Game, 'game_id' | 'room_id'>,
  { user_id, stake }: RouletteEntry,
): LedgerEvent<'roulette-left'> => ({
  type: 'roulette-left',
  data: { game_id, room_id, user_id, stake },
  movements: [transfer(gameAccount(game_id), coinAccount(user_id), stake)],
})
