import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { markMoves, readMarks } from './mark-read.ts'

const tables = [
  rowTable(readMarks, { source: 'profile', key: ['user_id'] }),
  rowTable(markMoves, { source: 'profile', key: ['user_id', 'up_to'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** What users have read of their notifications. The inboxes themselves follow from the events of all slices. */
export const notificationsModel: Model = {
  evolvers: [],
  tables,
  refusals: {},
}
