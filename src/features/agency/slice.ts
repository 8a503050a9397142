import type { Slice } from '../slice.ts'
import { agencyAdminRoutes } from './admin-routes.ts'
import { withdrawalFrames } from './frames.ts'
import { agencyRoutes } from './routes.ts'

/** Dollars: withdrawals through agents and managers, instant transfers, and salaries. */
export const agencySlice: Slice = {
  documentedPrefix: '/api/v1',
  routes: agencyRoutes,
  adminRoutes: agencyAdminRoutes,
  frameMapper: withdrawalFrames,
}
