import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveStaff, staffSessions } from './staff-sessions.ts'

const tables = [rowTable(staffSessions, { key: ['sub'] })]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Operators and finance: when their sessions were revoked. */
export const staffModel: Model = {
  evolvers: [evolveStaff],
  tables,
  refusals: {},
}
