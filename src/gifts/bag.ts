import type { Evolver, State, WritableState } from '../ledger/decider.ts'
import { projection } from '../ledger/state.ts'

/** Gifts that a user holds and can send without paying. */
export interface BagItem {
  readonly user_id: number
  readonly decoration_id: number
  /** From 1; a row that comes to nothing goes. */
  readonly quantity: number
}

export const bagItems = projection<BagItem>('bag_items')

export const bagId = (userId: number, decorationId: number): string => `${userId}:${decorationId}`

export const itemsIn = (state: State, userId: number, decorationId: number): number =>
  state.get(bagItems, bagId(userId, decorationId))?.quantity ?? 0

function change(state: WritableState, userId: number, decorationId: number, by: number): void {
  const quantity = itemsIn(state, userId, decorationId) + by
  if (quantity < 0) throw new Error(`the bag of user ${userId} does not hold that many of ${decorationId}`)
  const item = { user_id: userId, decoration_id: decorationId, quantity }
  state.set(bagItems, bagId(userId, decorationId), quantity === 0 ? undefined : item)
}

interface SentGift {
  readonly from_bag: boolean
  readonly sender_id: number
  readonly decoration_id: number
  readonly quantity: number
  readonly receiver_ids: readonly number[]
}

function takeOut(state: WritableState, gift: SentGift): void {
  if (!gift.from_bag) return
  change(state, gift.sender_id, gift.decoration_id, -gift.quantity * gift.receiver_ids.length)
}

export const evolveBags: Evolver = {
  'bag-items-added': (state, { data }) => change(state, data.user_id, data.decoration_id, data.quantity),
  'gift-sent': (state, { data }) => takeOut(state, data),
  'gift-drawn': (state, { data }) => takeOut(state, data),
}
