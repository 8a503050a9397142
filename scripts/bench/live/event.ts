import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import type { Profiles } from '../../../src/realtime/frames/frame-mapper.ts'

const HASH = '0'.repeat(64)
const gift = { sender_id: 1, receiver_ids: [2], room_id: 1, decoration_id: 3, price: 100, quantity: 5, cost: 500 }
const shares = { from_bag: false, encrypted: false, receiver_percent: 10, room_percent: 0, owner_percent: 0 }
const draw = {
  incarnation: HASH.slice(32),
  chain: '1-1',
  k: 1,
  link: HASH,
  announced: true,
  client_seed: '1',
  odds_hash: HASH,
  draws: [{ r: 1, reward: 750 }],
}

/** A lucky gift, whose frame has some 400 bytes. */
export const giftAt = (position: number): PositionedEvent<'gift-drawn'> => ({
  type: 'gift-drawn',
  position,
  at: Date.now() * 1000,
  movements: [],
  data: { ...gift, ...shares, ...draw, kind: 'lucky', trophy_points: 0, times: 3, won: 1_500 },
})

const clover = { name: 'Lucky clover', image_path: 'gifts/clover-with-four-leaves-animated.webp' }

export const profiles: Profiles = {
  users: new Map([[1, { id: 1, uid: 'amina', name: 'Amina', avatar: 'avatars/amina.png', picture: '' }]]),
  rooms: new Map([[1, { uid: 'R1', name: 'Lounge' }]]),
  decorations: new Map([[3, { ...clover, video_path: null }]]),
  packages: new Map(),
}

const totals = { totalcost: 500, currencycount: 1_500, quantity: 5, times: 3, win: 750 }
const people = { senderid: 1, receiversids: ['2'], roomuid: 'R1', last_update: '2026-11-21 21:00:00' }

/** The same frame as an object, for `ws`. */
export const frameAt = (position: number) => ({
  t: 'ev',
  ch: 'one-to-room:R1',
  event: 'one-to-room:lucky-gift-sent',
  position: String(position),
  prev: String(position - 1),
  id: `${position}.0`,
  data: { id: String(position), gift: { id: 3, ...clover }, ...totals, ...people },
})
