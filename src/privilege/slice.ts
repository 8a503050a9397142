import type { Slice } from '../http/slice.ts'
import { announceCards } from './announce.ts'
import { privilegeNotifier } from './notifier.ts'
import { privilegeOperatorRoutes } from './operator.ts'
import { privilegeRoutes } from './routes.ts'

/** Privilege packages, the cards in users' wallets, and the privileges that run. */
export const privilegeSlice: Slice = {
  published: '/api/v1',
  routes: privilegeRoutes,
  operator: privilegeOperatorRoutes,
  notifier: privilegeNotifier,
  announcer: announceCards,
}
