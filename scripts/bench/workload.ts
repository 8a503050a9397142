import type { SendGift } from '../../src/features/gifts/send.ts'

/** The gifts of the benches: the same for every implementation. */

export const USERS = 10_000
/** Room n belongs to user n. */
export const ROOMS = 1_000
/** Every user's initial balance, more than any run can spend. */
export const DIAMONDS = 1_000_000_000_000
/** A standard gift whose price is high enough for the room to get its share. */
export const GIFT = { id: 1, name: 'Crown', kind: 'standard', price: 100, image_path: 'gifts/crown.png' } as const

/** `uniform`: random receivers and rooms. `hot`: everybody sends to user 1 in room 1. */
export type Mix = 'uniform' | 'hot'

export interface Send {
  readonly sender: number
  readonly receiver: number
  readonly room: number
}

const oneOf = (count: number): number => 1 + Math.floor(Math.random() * count)

/** A gift by that user, or by user 2 when user 1 would send to itself. */
export function sendBy(user: number, mix: Mix): Send {
  if (mix === 'hot') return { sender: user === 1 ? 2 : user, receiver: 1, room: 1 }
  const other = oneOf(USERS - 1)
  return { sender: user, receiver: other < user ? other : other + 1, room: oneOf(ROOMS) }
}

/** A gift by a random user. */
export const anySend = (mix: Mix): Send => sendBy(oneOf(USERS), mix)

/** As input of the verb. */
export const asInput = ({ sender, receiver, room }: Send): SendGift => ({
  caller_id: sender,
  sender_id: sender,
  decoration_id: GIFT.id,
  receiver_ids: [receiver],
  quantity: 1,
  room,
  from_bag: false,
  encrypted: false,
})
