import type { Slice } from '../slice.ts'
import { agencyAdminRoutes } from './admin-routes.ts'
import { withdrawalFrames } from './frames.ts'
import { agencyRoutes } from './routes.ts'
import { agencyVerbs } from './verbs.ts'

/** Dollars: withdrawals through agents and managers, instant transfers, and salaries. */
export const agencySlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = agencyVerbs(settings)
    return {
      verbs,
      routes: (app, services) => agencyRoutes(app, services, verbs),
      adminRoutes: (app, services) => agencyAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: withdrawalFrames,
}
