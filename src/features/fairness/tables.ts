import { rowTable } from '../../ledger/storage/row-table.ts'
import { luckyProgress, publishedLuckyChains } from './lucky-progress.ts'

export const fairnessTables = [
  rowTable(luckyProgress, {
    key: ['user_id'],
    columns: {
      user_id: 'integer',
      number: 'integer',
      used: 'integer',
      client_seed: 'text',
      commitment: 'text',
      next_commitment: 'text',
    },
    isRewrittenOften: true,
  }),
  rowTable(publishedLuckyChains, {
    key: ['chain'],
    columns: { chain: 'text', user_id: 'integer', commitment: 'text', fairness_key: 'text' },
  }),
]
