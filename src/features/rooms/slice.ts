import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import type { Seats } from './members/seats.ts'
import { type ActiveGameColumn, findRoomsWith } from './reads.ts'
import { roomRoutes } from './routes.ts'
import { roomVerbs } from './verbs.ts'

/** Rooms and their members. Games and seats in them are another slice's. */
export function createRoomsSlice(activeGame: ActiveGameColumn, seats: Seats): Slice {
  const findRooms = findRoomsWith(activeGame)
  const verbs = roomVerbs(seats)
  return {
    documentedPrefix: '/v1',
    configure: () => ({
      verbs,
      routes: (app, services) => roomRoutes(app, services, findRooms, verbs),
      adminRoutes: (app, services) => roomAdminRoutes(app, services, verbs),
    }),
  }
}
