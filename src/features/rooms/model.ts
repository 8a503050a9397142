import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { type Model, refusalsWith } from '../model.ts'
import { evolveMembers, roomMembers } from './member.ts'
import { evolveRooms, roomProfiles, rooms, roomUids } from './room.ts'

const tables = [
  rowTable(rooms, { key: ['room_id'], isRewrittenOften: true }),
  rowTable(roomProfiles, { source: 'profile', key: ['room_id'] }),
  rowTable(roomUids, { source: 'lookup', key: ['uid'] }),
  rowTable(roomMembers, { key: ['room_id', 'user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Rooms and who is a member of them. */
export const roomsModel: Model = {
  evolvers: [evolveRooms, evolveMembers],
  tables,
  refusals: refusalsWith(422, {
    room_owner: { en: 'The owner of a room stays a member of it.', ar: 'يبقى مالك الغرفة عضوًا فيها.' },
    in_open_game: { en: 'Leave the open game of the room first.', ar: 'غادر اللعبة المفتوحة في الغرفة أولًا.' },
  }),
}
