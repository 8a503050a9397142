import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import { type ActiveGames, roomRoutes } from './routes.ts'

export { roomNames } from './reads.ts'

/** Rooms and their members. */
export const roomsSliceWith = (activeGames: ActiveGames): Slice => ({
  documentedPrefix: '/v1',
  routes: (app, services) => roomRoutes(app, services, activeGames),
  adminRoutes: roomAdminRoutes,
})
