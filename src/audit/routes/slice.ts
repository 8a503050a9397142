import type { Slice } from '../../features/slice.ts'
import { financeRoutes } from './routes.ts'
import type { AuditParts } from './services.ts'

/** Finance: reads the ledger, verifies it and closes its months; no value is moved. */
export const createFinanceSlice = (parts: AuditParts): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({
    adminRoutes: (app, { chooseReportDatabase, db, execute }) =>
      financeRoutes(app, { chooseReportDatabase, db, execute, ...parts }),
  }),
})
