import type { Slice } from '../slice.ts'
import { rouletteAdminRoutes } from './admin-routes.ts'
import { gameFrames } from './frames.ts'
import { rouletteRoutes } from './routes.ts'

/** Roulette: games in rooms, their spins, and the purge of those that nobody finished. */
export const rouletteSlice: Slice = {
  published: '/v1',
  routes: rouletteRoutes,
  operator: rouletteAdminRoutes,
  frameMapper: gameFrames,
}
