import { MAX_INTEGER } from '../../../../schema/max-integer.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { users } from '../../users/user.ts'
import { decorations } from '../catalogue/decoration.ts'
import { giftMessages } from '../messages.ts'
import {
  type BagItem,
  bagCounts,
  bagItemKey,
  bagItems,
  bagKindCount,
  bagTotals,
  MAX_BAG_KINDS,
  quantityInBag,
} from './bag.ts'

export interface AddBagItems {
  readonly user_id: number
  readonly decoration_id: number
  readonly quantity: number
  readonly reason: string
}

const refusals = ['not_found', 'validation_failed', 'balance_limit', 'holding_limit'] as const

/**
 * Adds gifts to a user's bag. Refusals, in this order: `not_found` (user), `validation_failed` (gift), `balance_limit`,
 * `holding_limit` (too many kinds).
 */
export const addBagItems: Verb<AddBagItems, Omit<BagItem, 'added_at'>, typeof refusals> = {
  refusals,
  reads: ({ user_id, decoration_id }) => [
    keyOf(users, user_id),
    keyOf(decorations, decoration_id),
    keyOf(bagItems, bagItemKey(user_id, decoration_id)),
    keyOf(bagCounts, user_id),
    keyOf(bagTotals, decoration_id),
  ],
  decide: (state, { user_id, decoration_id, quantity, reason }) => {
    if (state.get(users, String(user_id)) === undefined) return refuse('not_found')
    if (state.get(decorations, String(decoration_id)) === undefined) {
      return refuse('validation_failed', { decoration_id: [giftMessages.no_gift] })
    }
    const held = quantityInBag(state, user_id, decoration_id)
    if (held + quantity > MAX_INTEGER) return refuse('balance_limit')
    if (held === 0 && bagKindCount(state, user_id) >= MAX_BAG_KINDS) return refuse('holding_limit')
    return [{ type: 'bag-items-added', data: { user_id, decoration_id, quantity, reason }, movements: [] }]
  },
  result: (state, { user_id, decoration_id }) => ({
    user_id,
    decoration_id,
    quantity: quantityInBag(state, user_id, decoration_id),
  }),
}
