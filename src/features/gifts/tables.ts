import { rowTable } from '../../ledger/storage/row-table.ts'
import { bagCounts, bagItems } from './bag/bag.ts'
import { catalogueCounts, decorations, oddsTables } from './catalogue/decoration.ts'
import { streaks } from './streak.ts'

export const giftTables = [
  rowTable(decorations, {
    key: ['decoration_id'],
    columns: {
      decoration_id: 'integer',
      name: 'text',
      kind: 'text',
      price: 'integer',
      image_path: 'text',
      odds: 'json',
      odds_hash: 'text',
      created_at: 'micros',
    },
  }),
  rowTable(oddsTables, {
    key: ['odds_hash'],
    columns: { odds_hash: 'text', decoration_id: 'integer', odds: 'json' },
  }),
  rowTable(bagItems, {
    key: ['user_id', 'decoration_id'],
    columns: { user_id: 'integer', decoration_id: 'integer', quantity: 'integer', added_at: 'integer' },
  }),
  rowTable(bagCounts, { key: ['user_id'], columns: { user_id: 'integer', kinds: 'integer' } }),
  rowTable(catalogueCounts, { key: ['catalogue'], columns: { catalogue: 'text', decorations: 'integer' } }),
  rowTable(streaks, {
    key: ['sender_id', 'room_id', 'decoration_id'],
    columns: {
      sender_id: 'integer',
      room_id: 'integer',
      decoration_id: 'integer',
      times: 'integer',
      won: 'integer',
      last_at: 'micros',
    },
    isRewrittenOften: true,
  }),
]
