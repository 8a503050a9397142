import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveGames, games, openGames } from './game.ts'

const tables = [
  rowTable(games, {
    key: ['game_id'],
    // A full table of 50 takes 4 to 8 kB.
    weight: 20,
  }),
  rowTable(openGames, { key: ['room_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Roulette games. */
export const rouletteModel: Model = {
  evolvers: [evolveGames],
  tables,
  refusals: {
    not_game_creator: { status: 403, message: 'Only game creator can destroy game' },
    not_in_game: { status: 403, message: 'You are not in this game' },
    game_already_open: { status: 422, message: 'This room already has an open game' },
    game_finished: { status: 422, message: 'Game is finished' },
    game_cancelled: { status: 422, message: 'Game is cancelled' },
    already_joined: { status: 422, message: 'You already joined this game' },
    not_joined: { status: 422, message: 'You have not joined this game' },
    game_full: { status: 422, message: 'Game is full' },
    not_enough_players: { status: 422, message: 'At least two players are needed' },
  },
}
