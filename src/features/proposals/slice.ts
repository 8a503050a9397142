import type { FindCoveredCall } from '../../ledger/rules/covered-verb.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import type { Slice } from '../slice.ts'
import { proposalAdminRoutes } from './admin-routes.ts'

/** What staff may do only with a colleague's approval. `tables` are those that the covered verbs read. */
export const createProposalsSlice = (findCall: FindCoveredCall, tables: readonly RowTable[]): Slice => ({
  documentedPrefix: '/api/v1',
  adminRoutes: (app, services) => proposalAdminRoutes(app, services, findCall, tables),
})
