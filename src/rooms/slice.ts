import type { Slice } from '../http/slice.ts'
import { roomOperatorRoutes } from './operator.ts'
import { roomTables } from './projection.ts'
import { evolveRooms } from './room.ts'
import { roomRoutes } from './routes.ts'

/** Rooms and who is a member of them. */
export const roomsSlice: Slice = {
  published: '/v1',
  routes: roomRoutes,
  operator: roomOperatorRoutes,
  evolvers: [evolveRooms],
  tables: roomTables,
}
