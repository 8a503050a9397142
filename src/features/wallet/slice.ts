import type { Slice } from '../slice.ts'
import { walletAdminRoutes } from './admin-routes.ts'
import { liveWallet } from './frames.ts'
import { walletHistoryRoutes } from './history/routes.ts'
import { walletRoutes } from './routes.ts'
import { walletVerbs } from './verbs.ts'

/** Balances: what users hold, and what operators credit and debit. */
export const walletSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({
    verbs: walletVerbs,
    routes: (app, services) => {
      walletRoutes(app, services)
      walletHistoryRoutes(app, services)
    },
    adminRoutes: walletAdminRoutes,
  }),
  liveQuery: liveWallet,
}
