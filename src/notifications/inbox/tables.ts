import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { notificationCounts, notifications } from './inbox.ts'

export const inboxTables = [
  rowTable(notifications, { key: ['user_id', 'position'] }),
  rowTable(notificationCounts, { key: ['user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof inboxTables> {}
}
