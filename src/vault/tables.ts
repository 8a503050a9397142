import type { TablesOf } from '../db/tables.ts'
import { rowTable } from '../ledger/storage/row-table.ts'
import { vaultKeys, vaultRecords } from './record.ts'

export const vaultTables = [
  rowTable(vaultKeys, { source: 'profile', key: ['record_id'] }),
  rowTable(vaultRecords, { source: 'profile', key: ['record_id'] }),
]

declare module '../db/tables.ts' {
  interface Tables extends TablesOf<typeof vaultTables> {}
}
