import type { Person } from '../../../schema/common.ts'
import { account, balances } from '../../ledger/rules/account.ts'
import { incarnationIn, incarnationKey } from '../../ledger/rules/incarnation.ts'
import { type Key, keyOf, type State } from '../../ledger/rules/projection.ts'
import { memberKeys } from '../rooms/member.ts'
import { dependentRoomRefKeys, type RoomRef, resolveRoomRef, roomProfiles, roomRefKeys } from '../rooms/room.ts'
import { userProfiles } from '../users/user.ts'
import { type Game, gameAccount, gameIdOf, games } from './game.ts'

/** A user's request in a room. */
export interface RoomRequest {
  readonly caller_id: number
  readonly room: RoomRef
}

/** A user's request about a game of a room; `game` is an id or a uid. */
export interface GameRequest extends RoomRequest {
  readonly game: number | string
}

/** The keys that the request itself names. */
export const roomRequestKeys = ({ caller_id, room }: RoomRequest): readonly Key[] => [
  keyOf(userProfiles, caller_id),
  keyOf(balances, coinAccount(caller_id)),
  ...roomRefKeys(room),
]

/** The keys that depend on the room. */
export function dependentRoomKeys(state: State, { caller_id, room }: RoomRequest): readonly Key[] {
  const roomId = resolveRoomRef(state, room)
  return [
    ...dependentRoomRefKeys(state, room),
    ...(roomId === undefined ? [] : [keyOf(roomProfiles, roomId), ...memberKeys(roomId, caller_id)]),
  ]
}

export function gameRequestKeys(request: GameRequest): readonly Key[] {
  const id = gameIdOf(request.game)
  return [...roomRequestKeys(request), incarnationKey, ...(id === null ? [] : gameKeys(id))]
}

export const gameKeys = (gameId: number): readonly Key[] => [keyOf(games, gameId), keyOf(balances, gameAccount(gameId))]

/** The keys that depend on the room and the game: the profiles of all players. */
export function dependentGameKeys(state: State, request: GameRequest): readonly Key[] {
  const game = findGame(state, request.game)
  return [...dependentRoomKeys(state, request), ...(game === undefined ? [] : profileKeys(game))]
}

export const profileKeys = ({ creator_id, entries }: Game): readonly Key[] =>
  [creator_id, ...entries.map(({ user_id }) => user_id)].map((id) => keyOf(userProfiles, id))

/** The balances of all players of the requested game. */
export function requestedPlayerBalanceKeys(state: State, request: GameRequest): readonly Key[] {
  const game = findGame(state, request.game)
  return game === undefined ? [] : playerBalanceKeys(game)
}

export const playerBalanceKeys = ({ entries }: Game): readonly Key[] =>
  entries.map(({ user_id }) => keyOf(balances, coinAccount(user_id)))

export const coinAccount = (userId: number) => account('user', userId, 'coins')

/** The requested game; undefined when the room has no such game. */
export function findGameInRoom(state: State, request: GameRequest): Game | undefined {
  const game = findGame(state, request.game)
  const roomId = resolveRoomRef(state, request.room)
  return game !== undefined && game.room_id === roomId ? game : undefined
}

function findGame(state: State, ref: number | string): Game | undefined {
  const id = gameIdOf(ref)
  const game = id === null ? undefined : state.get(games, String(id))
  return typeof ref === 'number' || game?.uid === ref ? game : undefined
}

/** The refusal of any change to a game that has ended; undefined while it is open. */
export function endedRefusal({ status }: Game): 'game_finished' | 'game_cancelled' | undefined {
  if (status === 'finished') return 'game_finished'
  return status === 'cancelled' ? 'game_cancelled' : undefined
}

/** As `endedRefusal`; a game that is open since before commits were lost is as good as cancelled: its seed may be known. */
export const unplayableRefusal = (state: State, game: Game) =>
  endedRefusal(game) ?? (game.incarnation === incarnationIn(state) ? undefined : 'game_cancelled')

/** A game with its room's uid and the profiles of its players. */
export interface NamedGame {
  readonly game: Game
  readonly room_uid: string
  readonly creator: Person
  /** In the order of the game's entries. */
  readonly players: readonly Person[]
  readonly winner: Person | null
}

export const nameGame = (game: Game, room_uid: string, person: (userId: number) => Person): NamedGame => ({
  game,
  room_uid,
  creator: person(game.creator_id),
  players: game.entries.map(({ user_id }) => person(user_id)),
  winner: game.winner_id === null ? null : person(game.winner_id),
})

/** The requested game, with names. */
export function namedGameAt(state: State, request: GameRequest): NamedGame {
  const game = findGameInRoom(state, request)
  if (game === undefined) throw new Error(`game ${request.game} is not known`)
  return namedGame(state, game)
}

export function namedGame(state: State, game: Game): NamedGame {
  const room = state.get(roomProfiles, String(game.room_id))
  if (room === undefined) throw new Error(`room ${game.room_id} is not known`)
  return nameGame(game, room.uid, (id) => personIn(state, id))
}

/** A player without a profile: the id remains when the name was erased. */
function personIn(state: State, id: number): Person {
  const { name = '', avatar = '', uid = '' } = state.get(userProfiles, String(id)) ?? {}
  return { id, name, avatar, uid }
}
