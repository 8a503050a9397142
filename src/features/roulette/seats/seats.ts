import { balances } from '../../../ledger/rules/account.ts'
import { keyOf, type State } from '../../../ledger/rules/projection.ts'
import type { Seats } from '../../rooms/members/seats.ts'
import { entryOf, type Game, games, openGames } from '../game.ts'
import { coinAccount, gameKeys } from '../game-lookup.ts'
import { leftEvent } from './leave.ts'

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
