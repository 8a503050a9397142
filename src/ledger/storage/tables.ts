import { balances, holds } from '../rules/account.ts'
import { rowTable } from './row-table.ts'

export const ledgerTables = [
  rowTable(balances, { key: ['account'], columns: { account: 'text', balance: 'exact' }, isRewrittenOften: true }),
  rowTable(holds, { key: ['account'], columns: { account: 'text', held: 'exact' } }),
]
