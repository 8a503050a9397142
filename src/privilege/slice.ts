import type { Slice } from '../http/slice.ts'
import { announceCards } from './announce.ts'
import { evolveCards } from './card.ts'
import { privilegeNotifier } from './notifier.ts'
import { privilegeOperatorRoutes } from './operator.ts'
import { evolvePackages } from './package.ts'
import { privilegeTables } from './projection.ts'
import { privilegeRoutes } from './routes.ts'
import { evolvePrivileges } from './running.ts'

/** Privilege packages, the cards in users' wallets, and the privileges that run. */
export const privilegeSlice: Slice = {
  published: '/api/v1',
  routes: privilegeRoutes,
  operator: privilegeOperatorRoutes,
  evolvers: [evolvePackages, evolveCards, evolvePrivileges],
  tables: privilegeTables,
  notifier: privilegeNotifier,
  announcer: announceCards,
}
