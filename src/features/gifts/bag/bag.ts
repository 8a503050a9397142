import type { Evolver } from '../../../ledger/rules/event.ts'
import {
  exact,
  integer,
  projection,
  type RowOf,
  type State,
  type WritableState,
} from '../../../ledger/rules/projection.ts'

/** Gifts that a user owns and can send without paying. */
export const bagItems = projection('bag_items', {
  user_id: integer(),
  decoration_id: integer(),
  /** From 1; the row is removed at 0. */
  quantity: integer(),
  /** Position of the event that last added to it. */
  added_at: integer(),
})

export type BagItem = RowOf<typeof bagItems>

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

export const bagKindCount = (state: State, userId: number): number => state.get(bagCounts, String(userId))?.kinds ?? 0

function adjustKindCount(state: WritableState, userId: number, change: number): void {
  const kinds = bagKindCount(state, userId) + change
  state.set(bagCounts, String(userId), kinds === 0 ? undefined : { user_id: userId, kinds })
}

export const bagItemKey = (userId: number, decorationId: number): string => `${userId}:${decorationId}`

export const quantityInBag = (state: State, userId: number, decorationId: number): number =>
  state.get(bagItems, bagItemKey(userId, decorationId))?.quantity ?? 0

interface SentGift {
  readonly from_bag: boolean
  readonly sender_id: number
  readonly decoration_id: number
  readonly quantity: number
  readonly receiver_ids: readonly number[]
}

function removeSentItems(state: WritableState, gift: SentGift): void {
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
