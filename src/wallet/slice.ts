import type { Slice } from '../http/slice.ts'
import { shownWallet } from './announce.ts'
import { walletOperatorRoutes } from './operator.ts'
import { walletRoutes } from './routes.ts'

/** What users hold, and what operators add and take. */
export const walletSlice: Slice = {
  published: '/api/v1',
  routes: walletRoutes,
  operator: walletOperatorRoutes,
  shown: shownWallet,
}
