import type { EventData } from '../../../schema/events.ts'

/** User 1 sends five lucky gifts to user 2 in room 7, and wins nothing. */
export const drawnGift: EventData<'gift-drawn'> = {
  sender_id: 1,
  receiver_ids: [2],
  room_id: 7,
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
  incarnation: 'c'.repeat(32),
  chain: '1-1',
  k: 1,
  link: 'a'.repeat(64),
  announced: true,
  client_seed: '1',
  odds_hash: 'b'.repeat(64),
  draws: [{ r: 0, reward: 0 }],
  times: 2,
  won: 12_345,
}
