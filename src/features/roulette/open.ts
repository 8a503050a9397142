import { balanceOf } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { incarnationIn, incarnationKey } from '../../ledger/rules/incarnation.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type SpinSeeds, spinCommitment } from '../fairness/algorithms.ts'
import { isMember } from '../rooms/member.ts'
import { resolveRoomRef } from '../rooms/room.ts'
import { games, gameUid, openGames, prizeOf } from './game.ts'
import {
  coinAccount,
  dependentRoomKeys,
  type NamedGame,
  namedGame,
  type RoomRequest,
  roomRequestKeys,
} from './game-lookup.ts'
import { joinedEvent } from './seats.ts'

export interface OpenGame extends RoomRequest {
  /** Coins, 1 to 10,000,000. */
  readonly game_price: number
  /** 2 to 50. */
  readonly max_players: number
  /** Whether the creator joins immediately. */
  readonly join_admin: boolean
  /** The seed of a creator who joins; may be empty. */
  readonly client_seed: string
}

/** Configuration of new games. */
export interface RouletteSettings {
  readonly spins: SpinSeeds
  /** The house's fee on the pot, in per cent. */
  readonly feePercent: number
}

const refusals = ['not_found', 'not_room_member', 'game_already_open', 'insufficient_balance'] as const

/**
 * Opens a game in a room and commits to its spin. Refusals, in this order: `not_found` (room), `not_room_member`,
 * `game_already_open`, `insufficient_balance` (of a creator who joins; no game is opened then).
 */
export const openGame = (settings: RouletteSettings): Verb<OpenGame, NamedGame, typeof refusals> => ({
  refusals,
  reads: (input) => [...roomRequestKeys(input), incarnationKey],
  dependentReads: (state, input) => {
    const roomId = resolveRoomRef(state, input.room)
    return [...dependentRoomKeys(state, input), ...(roomId === undefined ? [] : [keyOf(openGames, roomId)])]
  },
  decide: (state, input, { position, now }) => {
    const { caller_id, game_price, max_players, join_admin, client_seed } = input
    const room_id = resolveRoomRef(state, input.room)
    if (room_id === undefined) return refuse('not_found')
    if (!isMember(state, room_id, caller_id)) return refuse('not_room_member')
    if (state.get(openGames, String(room_id)) !== undefined) return refuse('game_already_open')
    if (join_admin && balanceOf(state, coinAccount(caller_id)) < game_price) return refuse('insufficient_balance')

    const game_uid = gameUid(position, now)
    const incarnation = incarnationIn(state)
    const created: LedgerEvent = {
      type: 'roulette-created',
      data: {
        room_id,
        game_uid,
        creator_id: caller_id,
        game_price,
        max_players,
        fee_percent: settings.feePercent,
        prize: prizeOf(game_price * max_players, settings.feePercent),
        incarnation,
        commitment: spinCommitment(game_uid, settings.spins.seed({ incarnation, uid: game_uid })),
        fairness_key: settings.spins.keyHash,
      },
      movements: [],
    }
    const game = { game_id: position, room_id, game_price }
    return join_admin ? [created, joinedEvent(game, caller_id, client_seed)] : [created]
  },
  result: (state, _input, [created]) => {
    const game = created && state.get(games, String(created.position))
    if (game === undefined) throw new Error('no game was created')
    return namedGame(state, game)
  },
})
