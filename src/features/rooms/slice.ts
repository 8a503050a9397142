import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import type { Seats } from './members/seats.ts'
import { type ActiveGameColumn, findRoomsWith } from './reads.ts'
import { roomRoutes } from './routes.ts'

export { roomNames, roomStatesWith } from './reads.ts'

/** Rooms and their members. Games and seats in them are another slice's. */
export function createRoomsSlice(activeGame: ActiveGameColumn, seats: Seats): Slice {
  const findRooms = findRoomsWith(activeGame)
  return {
    documentedPrefix: '/v1',
    routes: (app, services) => roomRoutes(app, services, findRooms, seats),
    adminRoutes: (app, services) => roomAdminRoutes(app, services, seats),
  }
}
