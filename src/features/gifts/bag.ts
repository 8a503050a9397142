import { MAX_INTEGER } from '../../../schema/common.ts'
import type { EventData } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import {
  exact,
  integer,
  keyOf,
  projection,
  type RowOf,
  type State,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { users } from '../users/user.ts'
import { decorations } from './decoration.ts'
import { giftMessages } from './messages.ts'

/** Gifts that a user owns and can send without paying. */
export const bagItems = projection('bag_items', {
  user_id: integer(),
  decoration_id: integer(),
  /** From 1; the row is removed at 0. */
  quantity: integer(),
  /** Position of the event that last added to it. */
  added_at: integer(),
})

type BagItem = RowOf<typeof bagItems>

/** Kinds of gifts per bag. Limited because a bag is answered without paging. */
export const MAX_BAG_KINDS = 2_000

/** How many kinds of gifts a user's bag holds; no row for an empty bag. */
export const bagCounts = projection('bag_counts', {
  user_id: integer(),
  kinds: integer(),
})

/** How many of a gift all bags hold together; no row for none. */
export const bagTotals = projection('bag_totals', {
  decoration_id: integer(),
  quantity: exact(),
})

export const totalInBags = (state: State, decorationId: number): bigint =>
  state.get(bagTotals, String(decorationId))?.quantity ?? 0n

function adjustTotal(state: WritableState, decorationId: number, change: number): void {
  const quantity = totalInBags(state, decorationId) + BigInt(change)
  const row = quantity === 0n ? undefined : { decoration_id: decorationId, quantity }
  state.set(bagTotals, String(decorationId), row)
}

const bagKindCount = (state: State, userId: number): number => state.get(bagCounts, String(userId))?.kinds ?? 0

function adjustKindCount(state: WritableState, userId: number, change: number): void {
  const kinds = bagKindCount(state, userId) + change
  state.set(bagCounts, String(userId), kinds === 0 ? undefined : { user_id: userId, kinds })
}

export const bagItemKey = (userId: number, decorationId: number): string => `${userId}:${decorationId}`

export const quantityInBag = (state: State, userId: number, decorationId: number): number =>
  state.get(bagItems, bagItemKey(userId, decorationId))?.quantity ?? 0

function removeSentItems(state: WritableState, gift: EventData<'gift-sent'>): void {
  if (!gift.from_bag) return
  const id = bagItemKey(gift.sender_id, gift.decoration_id)
  const item = state.get(bagItems, id)
  const sent = gift.quantity * gift.receiver_ids.length
  const quantity = (item?.quantity ?? 0) - sent
  if (item === undefined || quantity < 0) throw new Error(`the bag does not hold that many of ${id}`)
  state.set(bagItems, id, quantity === 0 ? undefined : { ...item, quantity })
  if (quantity === 0) adjustKindCount(state, gift.sender_id, -1)
  adjustTotal(state, gift.decoration_id, -sent)
}

export const evolveBags: Evolver = {
  'bag-items-added': (state, { data: { user_id, decoration_id, quantity }, position }) => {
    const held = quantityInBag(state, user_id, decoration_id)
    const item = { user_id, decoration_id, quantity: held + quantity, added_at: position }
    state.set(bagItems, bagItemKey(user_id, decoration_id), item)
    if (held === 0) adjustKindCount(state, user_id, 1)
    adjustTotal(state, decoration_id, quantity)
  },
  'gift-sent': (state, { data }) => removeSentItems(state, data),
  'gift-drawn': (state, { data }) => removeSentItems(state, data),
}

interface AddBagItems {
  readonly user_id: number
  readonly decoration_id: number
  readonly quantity: number
  readonly reason: string
}

const addRefusals = ['not_found', 'validation_failed', 'balance_limit', 'holding_limit'] as const

/**
 * Adds gifts to a user's bag. Refusals, in this order: `not_found` (user), `validation_failed` (gift), `balance_limit`,
 * `holding_limit` (too many kinds).
 */
export const addBagItems: Verb<AddBagItems, Omit<BagItem, 'added_at'>, typeof addRefusals> = {
  refusals: addRefusals,
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
