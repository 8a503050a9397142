import type { Slice } from '../slice.ts'
import { privilegeAdminRoutes } from './admin-routes.ts'
import { privilegeRoutes } from './routes.ts'

export { packageNames } from './reads.ts'

/** Privilege packages, the cards in users' wallets, and active privileges. */
export const privilegeSlice: Slice = {
  documentedPrefix: '/api/v1',
  routes: privilegeRoutes,
  adminRoutes: privilegeAdminRoutes,
}
