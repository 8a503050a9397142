import type { Messages } from '../../language/messages.ts'

/** What clients read about rooms and their members. */
export const roomMessages = {
  room_owner: { en: 'The owner of a room stays a member of it.', ar: 'يبقى مالك الغرفة عضوًا فيها.' },
  in_open_game: { en: 'Leave the open game of the room first.', ar: 'غادر اللعبة المفتوحة في الغرفة أولًا.' },
  left: { en: 'You have left the room.', ar: 'غادرت الغرفة.' },
  removed: { en: 'The member is removed from the room.', ar: 'أُزيل العضو من الغرفة.' },
  id_is_uid: { en: 'This is the uid of another room.', ar: 'هذا المعرّف هو uid لغرفة أخرى.' },
} satisfies Messages
