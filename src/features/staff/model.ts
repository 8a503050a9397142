import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveStaff, staffSessions } from './staff.ts'

/** Operators and finance: when their sessions were revoked. */
export const staffModel: Model = {
  evolvers: [evolveStaff],
  tables: [rowTable(staffSessions, { key: ['sub'], columns: { sub: 'text', revoked_before: 'integer' } })],
  refusals: {},
}
