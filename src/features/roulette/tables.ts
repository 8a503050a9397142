import { rowTable } from '../../ledger/storage/row-table.ts'
import { games, openGames } from './game.ts'

export const rouletteTables = [
  rowTable(games, {
    key: ['game_id'],
    columns: {
      game_id: 'integer',
      uid: 'text',
      room_id: 'integer',
      creator_id: 'integer',
      status: 'text',
      game_price: 'integer',
      max_players: 'integer',
      fee_percent: 'integer',
      prize: 'integer',
      entries: 'json',
      commitment: 'text',
      winner_id: 'integer',
      spin: 'json',
      created_at: 'micros',
      empty_since: 'micros',
      ended_at: 'micros',
      end_position: 'integer',
    },
    // A full table of 50 takes 4 to 8 kB.
    weight: 20,
  }),
  rowTable(openGames, { key: ['room_id'], columns: { room_id: 'integer', game_id: 'integer' } }),
]
