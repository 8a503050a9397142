import type { Slice } from '../slice.ts'
import { walletAdminRoutes } from './admin-routes.ts'
import { liveWallet } from './frames.ts'
import { walletRoutes } from './routes.ts'

/** Balances: what users hold, and what operators credit and debit. */
export const walletSlice: Slice = {
  documentedPrefix: '/api/v1',
  routes: walletRoutes,
  adminRoutes: walletAdminRoutes,
  liveQuery: liveWallet,
}
