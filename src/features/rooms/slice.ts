import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import { type ActiveGameColumn, findRoomsWith } from './reads.ts'
import { roomRoutes } from './routes.ts'

export { roomNames, roomStatesWith } from './reads.ts'

/** Rooms and their members. */
export function createRoomsSlice(activeGame: ActiveGameColumn): Slice {
  const findRooms = findRoomsWith(activeGame)
  return {
    documentedPrefix: '/v1',
    routes: (app, services) => roomRoutes(app, services, findRooms),
    adminRoutes: roomAdminRoutes,
  }
}
