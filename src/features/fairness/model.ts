import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { evolveLuckyChains, luckyProgress, publishedLuckyChains } from './lucky-progress.ts'

/** Chains of lucky draws, with what they are committed to. */
export const fairnessModel: Model = {
  evolvers: [evolveLuckyChains],
  tables: [
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
  ],
  refusals: {},
}
