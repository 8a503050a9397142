import { rowTable } from '../../ledger/storage/row-table.ts'
import { cardCounts, cards } from './card.ts'
import { packages } from './packages/package.ts'
import { privileges } from './privilege.ts'

export const privilegeTables = [
  rowTable(packages, {
    key: ['privilege_package_id'],
    columns: {
      privilege_package_id: 'integer',
      name: 'text',
      rank: 'integer',
      valid_days: 'integer',
      icon_path: 'text',
      created_at: 'micros',
    },
  }),
  rowTable(cards, {
    key: ['card_id'],
    columns: {
      card_id: 'integer',
      owner_id: 'integer',
      privilege_package_id: 'integer',
      valid_days: 'integer',
      activated: 'boolean',
      created_at: 'micros',
      entered: 'integer',
    },
  }),
  rowTable(cardCounts, { key: ['user_id'], columns: { user_id: 'integer', stored: 'integer' } }),
  rowTable(privileges, {
    key: ['user_id'],
    columns: { user_id: 'integer', privilege_package_id: 'integer', rank: 'integer', valid_until: 'integer' },
  }),
]
