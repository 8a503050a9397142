import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveLuckyChains, luckyProgress, publishedLuckyChains } from './lucky-chains.ts'

const tables = [
  rowTable(luckyProgress, { key: ['user_id'], isRewrittenOften: true }),
  rowTable(publishedLuckyChains, { key: ['incarnation', 'chain'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Chains of lucky draws, with what they are committed to. */
export const fairnessModel: Model = {
  evolvers: [evolveLuckyChains],
  tables,
  refusals: {},
}
