import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import type { Profiles } from '../../../src/realtime/frames/profiles.ts'

/** A lucky gift, whose frame has some 400 bytes. */
export const giftAt = (position: number): PositionedEvent<'gift-drawn'> => ({
  type: 'gift-drawn',
  position,
  at: Date.now() * 1000,
  movements: [],
  data: {
    sender_id: 1,
    receiver_ids: [2],
    room_id: 1,
    decoration_id: 3,
    kind: 'lucky',
    price: 100,
    quantity: 5,
    cost: 500,
    from_bag: false,
    encrypted: false,
    receiver_percent: 10,
    room_percent: 0,
    owner_percent: 0,
    trophy_points: 0,
    chain: '1-1',
    k: 1,
    link: '0'.repeat(64),
    client_seed: '1',
    odds_hash: '0'.repeat(64),
    draws: [{ r: 1, reward: 750 }],
    times: 3,
    won: 1_500,
  },
})

export const lookups: Profiles = {
  users: new Map([[1, { id: 1, uid: 'amina', name: 'Amina', avatar: 'avatars/amina.png', picture: '' }]]),
  rooms: new Map([[1, { uid: 'R1', name: 'Lounge' }]]),
  decorations: new Map([
    [3, { name: 'Lucky clover', image_path: 'gifts/clover-with-four-leaves-animated.webp', video_path: null }],
  ]),
  packages: new Map(),
}

/** The same frame as an object, for the implementations that serialize it themselves. */
export const frameAt = (position: number) => ({
  t: 'ev',
  ch: 'one-to-room:R1',
  event: 'one-to-room:lucky-gift-sent',
  position: String(position),
  prev: String(position - 1),
  id: `${position}.0`,
  data: {
    id: String(position),
    totalcost: 500,
    gift: { id: 3, name: 'Lucky clover', image_path: 'gifts/clover-with-four-leaves-animated.webp' },
    times: 3,
    senderid: 1,
    receiversids: ['2'],
    currencycount: 1_500,
    quantity: 5,
    roomuid: 'R1',
    win: 750,
    last_update: '2026-11-21 21:00:00',
  },
})
