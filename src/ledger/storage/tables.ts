import type { TablesOf } from '../../db/tables.ts'
import { balances, holds } from '../rules/account.ts'
import { incarnations, lostCommits } from '../rules/incarnation.ts'
import { passedTime } from '../rules/passed-time.ts'
import { rowTable } from './row-table.ts'

export const ledgerTables = [
  rowTable(balances, { key: ['account'], isRewrittenOften: true }),
  rowTable(holds, { key: ['account'] }),
  rowTable(incarnations, { key: ['one'] }),
  rowTable(lostCommits, { source: 'profile', key: ['one'] }),
  rowTable(passedTime, { source: 'profile', key: ['only_row'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof ledgerTables> {}
}
