import type { TablesOf } from '../../db/tables.ts'
import { micros } from '../../ledger/rules/columns.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveRooms, roomMembers, roomProfiles, rooms, roomUids } from './room.ts'

const tables = [
  rowTable(rooms, { key: ['room_id'], isRewrittenOften: true }),
  rowTable(roomProfiles, { source: 'profile', key: ['room_id'] }),
  rowTable(roomUids, { source: 'lookup', key: ['uid'] }),
  rowTable(roomMembers, { source: 'lookup', key: ['room_id', 'user_id'], defaults: { joined_at: micros() } }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Rooms and who is a member of them. */
export const roomsModel: Model = {
  evolvers: [evolveRooms],
  tables,
  refusals: {},
}
