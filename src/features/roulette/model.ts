import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveGames, games, openGames } from './game.ts'
import { rouletteMessages } from './messages.ts'

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
    not_game_creator: { status: 403, message: rouletteMessages.not_game_creator },
    not_in_game: { status: 403, message: rouletteMessages.not_in_game },
    game_already_open: { status: 422, message: rouletteMessages.game_already_open },
    game_finished: { status: 422, message: rouletteMessages.game_finished },
    game_cancelled: { status: 422, message: rouletteMessages.game_cancelled },
    already_joined: { status: 422, message: rouletteMessages.already_joined },
    not_joined: { status: 422, message: rouletteMessages.not_joined },
    game_full: { status: 422, message: rouletteMessages.game_full },
    not_enough_players: { status: 422, message: rouletteMessages.not_enough_players },
  },
}
