import type { Slice } from '../slice.ts'
import { gameFrames } from './frames.ts'
import { rouletteAdminRoutes } from './old-games/admin-routes.ts'
import { rouletteRoutes } from './routes.ts'

export { activeGame, checkSpin } from './reads.ts'
export { seats } from './seats/seats.ts'

/** Roulette: games in rooms, their spins, and the purge of unfinished games. */
export const rouletteSlice: Slice = {
  documentedPrefix: '/v1',
  routes: rouletteRoutes,
  adminRoutes: rouletteAdminRoutes,
  frameMapper: gameFrames,
}
