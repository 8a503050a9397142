import type { Slice } from '../http/slice.ts'
import { roomOperatorRoutes } from './operator.ts'
import { type ActiveGame, roomRoutes } from './routes.ts'

/** Rooms and who is a member of them. */
export const roomsWith = (activeGame: ActiveGame): Slice => ({
  published: '/v1',
  routes: (app, services) => roomRoutes(app, services, activeGame),
  operator: roomOperatorRoutes,
})
