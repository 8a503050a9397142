import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import { type ActiveGames, roomRoutes } from './routes.ts'

/** Rooms and who is a member of them. */
export const roomsWith = (activeGames: ActiveGames): Slice => ({
  published: '/v1',
  routes: (app, services) => roomRoutes(app, services, activeGames),
  operator: roomAdminRoutes,
})
