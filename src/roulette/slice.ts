import type { Slice } from '../http/slice.ts'
import { announceGames } from './announce.ts'
import { evolveGames } from './game.ts'
import { rouletteOperatorRoutes } from './operator.ts'
import { rouletteTables } from './projection.ts'
import { rouletteRoutes } from './routes.ts'

/** Roulette: games in rooms, their spins, and the purge of those that nobody finished. */
export const rouletteSlice: Slice = {
  published: '/v1',
  routes: rouletteRoutes,
  operator: rouletteOperatorRoutes,
  evolvers: [evolveGames],
  tables: rouletteTables,
  announcer: announceGames,
}
