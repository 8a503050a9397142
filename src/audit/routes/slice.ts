import type { Slice } from '../../features/slice.ts'
import { financeRoutes } from './routes.ts'
import type { FinanceServices } from './services.ts'

/** Finance: reads the ledger, and changes nothing. */
export const createFinanceSlice = (own: Omit<FinanceServices, 'db'>): Slice => ({
  documentedPrefix: '/api/v1',
  adminRoutes: (app, { reads }) => financeRoutes(app, { db: reads.reports, ...own }),
})
