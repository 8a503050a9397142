import type { Slice } from '../slice.ts'
import { agencyOperatorRoutes } from './admin-routes.ts'
import { announceWithdrawals } from './frames.ts'
import { agencyRoutes } from './routes.ts'

/** Dollars out: withdrawals through agents and managers, instant transfers; and dollars in: salaries. */
export const agencySlice: Slice = {
  published: '/api/v1',
  routes: agencyRoutes,
  operator: agencyOperatorRoutes,
  announcer: announceWithdrawals,
}
