import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { bagCounts, bagItems, bagTotals, evolveBags } from './bag.ts'
import { catalogueCounts, decorations, evolveDecorations, oddsTables } from './decoration.ts'
import { giftMessages } from './messages.ts'
import { evolveStreaks, streaks } from './send.ts'

const tables = [
  rowTable(decorations, { key: ['decoration_id'] }),
  rowTable(oddsTables, { key: ['odds_hash'] }),
  rowTable(bagItems, { key: ['user_id', 'decoration_id'] }),
  rowTable(bagCounts, { key: ['user_id'] }),
  rowTable(bagTotals, { key: ['decoration_id'] }),
  rowTable(catalogueCounts, { key: ['catalogue'] }),
  rowTable(streaks, { key: ['sender_id', 'room_id', 'decoration_id'], isRewrittenOften: true }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/**
 * Gifts: the catalogue, bags, streaks. The events of a sent gift (`gift-sent`, `gift-drawn`) carry its movements. These
 * evolvers fold them too, each in the slice that owns the rows:
 *
 * - `bag.ts`: items sent from a bag leave it
 * - `send.ts`: the streak of consecutive draws of a sender, with what they won
 * - `../rooms/room.ts`: the room's trophy points
 * - `../fairness/lucky-chains.ts`: how many links of the sender's chain are used
 *
 * `frames.ts` maps them to frames, and `../wallet/frames.ts` pushes the wallets that they change.
 */
export const giftsModel: Model = {
  evolvers: [evolveDecorations, evolveBags, evolveStreaks],
  tables,
  refusals: {
    not_the_sender: { status: 403, message: giftMessages.not_the_sender },
    insufficient_items: { status: 422, message: giftMessages.insufficient_items },
  },
}
