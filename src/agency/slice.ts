import type { Slice } from '../http/slice.ts'
import { announceWithdrawals } from './announce.ts'
import { evolveSalaries } from './deposit.ts'
import { evolveInstantTransfers } from './instant-transfer.ts'
import { agencyOperatorRoutes } from './operator.ts'
import { agencyTables } from './projection.ts'
import { agencyRoutes } from './routes.ts'
import { evolveWithdrawals } from './withdrawal.ts'

/** Dollars out: withdrawals through agents and managers, instant transfers; and dollars in: salaries. */
export const agencySlice: Slice = {
  published: '/api/v1',
  routes: agencyRoutes,
  operator: agencyOperatorRoutes,
  evolvers: [evolveWithdrawals, evolveInstantTransfers, evolveSalaries],
  tables: agencyTables,
  announcer: announceWithdrawals,
}
