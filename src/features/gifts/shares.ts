import type { GiftKind } from '../../../schema/events.ts'

/** Who receives a share of a gift's value, in per cent. */
export interface Shares {
  /** A share of each order, to the receiver's target balance. */
  readonly receiver: number
  /** A share of the whole send, to the room's target balance. */
  readonly room: number
  /** A share of the whole send, to the room owner's target balance; not on the owner's own sends. */
  readonly owner: number
  /** Whether the room gets one trophy point per diamond. */
  readonly trophies: boolean
}

/** Shares by kind of gift; returnable gifts are treated like lucky ones. `ownerPercent` is the current commission. */
export function sharesOf(kind: GiftKind, ownerPercent: number): Shares {
  return kind === 'standard'
    ? { receiver: 100, room: 3, owner: ownerPercent, trophies: true }
    : { receiver: 10, room: 0, owner: 0, trophies: false }
}
