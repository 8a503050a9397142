import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { type Model, refusalsWith } from '../model.ts'
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
    ...refusalsWith(403, {
      not_game_creator: { en: 'Only game creator can destroy game', ar: 'لا يمكن إلغاء اللعبة إلا لمن أنشأها.' },
      not_in_game: { en: 'You are not in this game', ar: 'لست مشاركًا في هذه اللعبة.' },
    }),
    ...refusalsWith(422, {
      game_already_open: { en: 'This room already has an open game', ar: 'توجد لعبة مفتوحة بالفعل في هذه الغرفة.' },
      game_finished: { en: 'Game is finished', ar: 'انتهت اللعبة.' },
      game_cancelled: { en: 'Game is cancelled', ar: 'أُلغيت اللعبة.' },
      already_joined: { en: 'You already joined this game', ar: 'لقد انضممت إلى هذه اللعبة من قبل.' },
      not_joined: { en: 'You have not joined this game', ar: 'لم تنضم إلى هذه اللعبة.' },
      game_full: { en: 'Game is full', ar: 'اكتمل عدد اللاعبين.' },
      not_enough_players: { en: 'At least two players are needed', ar: 'يلزم لاعبان على الأقل لبدء السحب.' },
    }),
  },
}
