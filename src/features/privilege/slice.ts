import type { Slice } from '../slice.ts'
import { privilegeAdminRoutes } from './admin-routes.ts'
import { cardFrames } from './frames.ts'
import { privilegeNotifier } from './notifier.ts'
import { privilegeRoutes } from './routes.ts'

/** Privilege packages, the cards in users' wallets, and the privileges that run. */
export const privilegeSlice: Slice = {
  published: '/api/v1',
  routes: privilegeRoutes,
  operator: privilegeAdminRoutes,
  notifier: privilegeNotifier,
  frameMapper: cardFrames,
}
