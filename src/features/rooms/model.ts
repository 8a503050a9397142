import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveMembers, roomMembers } from './members/member.ts'
import { roomMessages } from './messages.ts'
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
  refusals: {
    room_owner: { status: 422, message: roomMessages.room_owner },
    in_open_game: { status: 422, message: roomMessages.in_open_game },
  },
}
