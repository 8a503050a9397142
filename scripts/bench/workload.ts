import type { SendGift } from '../../src/features/gifts/send.ts'

/** Who sends what to whom: the same for every contender. */

export const USERS = 10_000
/** Room n belongs to user n. */
export const ROOMS = 1_000
/** What everyone holds to begin with; no run comes to the end of it. */
export const DIAMONDS = 1_000_000_000_000
/** A standard gift, dear enough that the room gets its share too. */
export const GIFT = { id: 1, name: 'Crown', kind: 'standard', price: 100, image_path: 'gifts/crown.png' } as const

/** `uniform`: receivers and rooms are as many as there are. `hot`: all send to user 1 in room 1. */
export type Mix = 'uniform' | 'hot'

export interface Send {
  readonly sender: number
  readonly receiver: number
  readonly room: number
}

const oneOf = (count: number): number => 1 + Math.floor(Math.random() * count)

/** A send by that user; of user 1 in the hot mix, who cannot be both, by somebody else. */
export function sendBy(user: number, mix: Mix): Send {
  if (mix === 'hot') return { sender: user === 1 ? 2 : user, receiver: 1, room: 1 }
  const other = oneOf(USERS - 1)
  return { sender: user, receiver: other < user ? other : other + 1, room: oneOf(ROOMS) }
}

/** A send by any user. */
export const anySend = (mix: Mix): Send => sendBy(oneOf(USERS), mix)

/** As the rule for gifts takes it. */
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
