import { rowTable } from '../ledger/storage/row-table.ts'
import { vaultKeys, vaultRecords } from './record.ts'

export const vaultTables = [
  rowTable(vaultKeys, {
    source: 'profile',
    key: ['record_id'],
    columns: { record_id: 'text', user_id: 'integer', wrapped: 'text' },
  }),
  rowTable(vaultRecords, {
    source: 'profile',
    key: ['record_id'],
    columns: { record_id: 'text', sealed: 'text' },
  }),
]
