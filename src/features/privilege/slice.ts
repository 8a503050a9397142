import type { Slice } from '../slice.ts'
import { privilegeAdminRoutes } from './admin-routes.ts'
import { privilegeRoutes } from './routes.ts'
import { privilegeVerbs } from './verbs.ts'

/** Privilege packages, the cards in users' wallets, and active privileges. */
export const privilegeSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = privilegeVerbs(settings)
    return {
      verbs,
      routes: (app, services) => privilegeRoutes(app, services, verbs),
      adminRoutes: (app, services) => privilegeAdminRoutes(app, services, verbs),
    }
  },
}
