import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveRooms, roomMembers, roomProfiles, rooms, roomUids } from './room.ts'

/** Rooms and who is a member of them. */
export const roomsModel: Model = {
  evolvers: [evolveRooms],
  tables: [
    rowTable(rooms, {
      key: ['room_id'],
      columns: { room_id: 'integer', owner_id: 'integer', trophy_points: 'integer' },
      isRewrittenOften: true,
    }),
    rowTable(roomProfiles, {
      source: 'profile',
      key: ['room_id'],
      columns: {
        room_id: 'integer',
        uid: 'text',
        name: 'text',
        cover_url: 'text',
        created_at: 'micros',
        updated_at: 'micros',
        updated_by: 'text',
      },
    }),
    rowTable(roomUids, { source: 'lookup', key: ['uid'], columns: { uid: 'text', room_id: 'integer' } }),
    rowTable(roomMembers, {
      source: 'lookup',
      key: ['room_id', 'user_id'],
      columns: { room_id: 'integer', user_id: 'integer' },
    }),
  ],
  refusals: {},
}
