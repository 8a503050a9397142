import type { Slice } from '../slice.ts'
import { gameFrames } from './frames.ts'
import { rouletteAdminRoutes } from './old-games/admin-routes.ts'
import { rouletteRoutes } from './routes.ts'
import { rouletteVerbs } from './verbs.ts'

/** Roulette: games in rooms, their spins, and the purge of unfinished games. */
export const rouletteSlice: Slice = {
  documentedPrefix: '/v1',
  configure(settings) {
    const verbs = rouletteVerbs(settings)
    return {
      verbs,
      routes: (app, services) => rouletteRoutes(app, services, verbs),
      adminRoutes: (app, services) => rouletteAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: gameFrames,
}
