import { rowTable } from '../../ledger/storage/row-table.ts'
import { staffSessions } from './staff.ts'

export const staffTables = [
  rowTable(staffSessions, { key: ['sub'], columns: { sub: 'text', revoked_before: 'integer' } }),
]
