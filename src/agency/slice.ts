import type { Slice } from '../http/slice.ts'
import { announceWithdrawals } from './announce.ts'
import { agencyOperatorRoutes } from './operator.ts'
import { agencyRoutes } from './routes.ts'

/** Dollars out: withdrawals through agents and managers, instant transfers; and dollars in: salaries. */
export const agencySlice: Slice = {
  published: '/api/v1',
  routes: agencyRoutes,
  operator: agencyOperatorRoutes,
  announcer: announceWithdrawals,
}
