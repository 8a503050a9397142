import type { Slice } from '../slice.ts'
import { privilegeOperatorRoutes } from './admin-routes.ts'
import { announceCards } from './frames.ts'
import { privilegeNotifier } from './notifier.ts'
import { privilegeRoutes } from './routes.ts'

/** Privilege packages, the cards in users' wallets, and the privileges that run. */
export const privilegeSlice: Slice = {
  published: '/api/v1',
  routes: privilegeRoutes,
  operator: privilegeOperatorRoutes,
  notifier: privilegeNotifier,
  announcer: announceCards,
}
