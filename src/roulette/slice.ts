import type { Slice } from '../http/slice.ts'
import { announceGames } from './announce.ts'
import { rouletteOperatorRoutes } from './operator.ts'
import { rouletteRoutes } from './routes.ts'

/** Roulette: games in rooms, their spins, and the purge of those that nobody finished. */
export const rouletteSlice: Slice = {
  published: '/v1',
  routes: rouletteRoutes,
  operator: rouletteOperatorRoutes,
  announcer: announceGames,
}
