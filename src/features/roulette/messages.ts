import type { Messages } from '../../language/messages.ts'

/** What clients read about roulette games. */
export const rouletteMessages = {
  not_game_creator: { en: 'Only game creator can destroy game', ar: 'لا يمكن إلغاء اللعبة إلا لمن أنشأها.' },
  not_in_game: { en: 'You are not in this game', ar: 'لست مشاركًا في هذه اللعبة.' },
  game_already_open: { en: 'This room already has an open game', ar: 'توجد لعبة مفتوحة بالفعل في هذه الغرفة.' },
  game_finished: { en: 'Game is finished', ar: 'انتهت اللعبة.' },
  game_cancelled: { en: 'Game is cancelled', ar: 'أُلغيت اللعبة.' },
  already_joined: { en: 'You already joined this game', ar: 'لقد انضممت إلى هذه اللعبة من قبل.' },
  not_joined: { en: 'You have not joined this game', ar: 'لم تنضم إلى هذه اللعبة.' },
  game_full: { en: 'Game is full', ar: 'اكتمل عدد اللاعبين.' },
  not_enough_players: { en: 'At least two players are needed', ar: 'يلزم لاعبان على الأقل لبدء السحب.' },
  cancelled: {
    en: 'The game is cancelled and everyone is paid back.',
    ar: 'أُلغيت اللعبة وأُعيدت المبالغ إلى جميع اللاعبين.',
  },
} satisfies Messages
