import type { GiftKind } from '../../../schema/events.ts'

/** What a gift gives beside the show, in per cent of its value. */
export interface Shares {
  /** Of each order, to its receiver's target balance. */
  readonly receiver: number
  /** Of the whole send, to the room's target balance. */
  readonly room: number
  /** Of the whole send, to the room owner's target balance; not on the owner's own sends. */
  readonly owner: number
  /** Trophy points for the room, one a diamond. */
  readonly trophies: boolean
}

/** Returnable gifts are treated exactly as lucky ones. `ownerPercent` is the commission in force. */
export function sharesOf(kind: GiftKind, ownerPercent: number): Shares {
  return kind === 'standard'
    ? { receiver: 100, room: 3, owner: ownerPercent, trophies: true }
    : { receiver: 10, room: 0, owner: 0, trophies: false }
}
