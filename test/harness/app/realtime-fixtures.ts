import type { RoomResource } from '../../../schema/rooms.ts'
import { headOf } from '../../../src/db/head.ts'
import { bagCounts, bagItemKey, bagItems, bagTotals } from '../../../src/features/gifts/bag.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { usersSlice } from '../../../src/features/users/routes.ts'
import { command } from '../../../src/ledger/executor/command.ts'
import type { Executor } from '../../../src/ledger/executor/executor.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { keyOf } from '../../../src/ledger/rules/projection.ts'
import type { Refusal, Verb } from '../../../src/ledger/rules/verb.ts'
import type { FrameMapper } from '../../../src/realtime/frames/frame-mapper.ts'
import type { FindRoomStates } from '../../../src/realtime/subscriptions/channel-access.ts'
import { queryRows } from '../ledger/test-executor.ts'
import type { TestDatabase } from '../postgres/test-database.ts'

/**
 * Frames of messages to rooms, users and everyone, made of events that are easily committed.
 *
 * The quantity of a gift is the number that is posted in its room: one above a million is posted twice, one above two
 * million to everyone too, and one above three million with 20 kB of padding.
 */
const frameMapper: FrameMapper = {
  'gift-sent': ({ data: { room_id, quantity } }) => {
    const posted = {
      channel: `room:${room_id}`,
      event: 'message-posted',
      requiredIds: {},
      data: () => payloadOf(quantity),
    } as const
    const repeated = { ...posted, event: 'message-repeated', enc: 'rot41' as const }
    const frames = quantity > 1_000_000 ? [posted, repeated] : [posted]
    return quantity > 2_000_000 ? [...frames, { ...posted, channel: 'global' }] : frames
  },
  'bag-items-added': ({ data: { user_id, decoration_id } }) => [
    {
      channel: `user:${user_id}`,
      event: 'message-received',
      requiredIds: { users: [user_id] },
      data: () => ({ n: decoration_id }),
    },
  ],
}

const payloadOf = (n: number) => (n > 3_000_000 ? { n, more: 'x'.repeat(20_000) } : { n })

export const chatSlices: readonly Slice[] = [usersSlice, { documentedPrefix: '/v1', frameMapper }]

interface ChatMessage {
  readonly to: number
  readonly n: number
}

/** A gift that costs nothing. */
export const giftToRoom = (room_id: number, quantity: number): LedgerEvent<'gift-sent'> => ({
  type: 'gift-sent',
  data: {
    sender_id: 1,
    receiver_ids: [2],
    room_id,
    decoration_id: 1,
    kind: 'standard',
    price: 0,
    quantity,
    cost: 0,
    from_bag: false,
    encrypted: false,
    receiver_percent: 0,
    room_percent: 0,
    owner_percent: 0,
    trophy_points: 0,
  },
  movements: [],
})

const roomMessage: Verb<ChatMessage, number> = {
  refusals: [],
  reads: () => [],
  decide: (_state, { to, n }) => [giftToRoom(to, n)],
  result: (_state, _input, events) => events[0]?.position ?? 0,
}

const userMessage: Verb<ChatMessage, number> = {
  refusals: [],
  reads: ({ to, n }) => [keyOf(bagItems, bagItemKey(to, n)), keyOf(bagCounts, to), keyOf(bagTotals, n)],
  decide: (_state, { to, n }) => [
    { type: 'bag-items-added', data: { user_id: to, decoration_id: n, quantity: 1, reason: 'message' }, movements: [] },
  ],
  result: roomMessage.result,
}

interface Sender {
  readonly executor: Executor
}

let requests = 0

/** Runs a verb and returns its result. */
export async function runVerb<Input, Answer>(
  { executor }: Sender,
  verb: Verb<Input, Answer>,
  input: Input,
): Promise<Answer> {
  const cause = { actor: 'system', requestId: `message-${(requests += 1)}`, idempotency: null }
  const answered = (answer: Answer) => ({ status: 200, body: JSON.stringify({ answer }) })
  const refused = ({ refusal }: Refusal) => ({ status: 422, body: refusal })
  const { reply } = await executor.run(
    command(verb, input, cause, { presentResult: answered, presentRefusal: refused }),
  )
  if (reply.status !== 200) throw new Error(reply.body)
  return JSON.parse(reply.body).answer
}

/** Posts a number in a room; returns the position of its event. */
export const postToRoom = (sender: Sender, room: number, n = 1): Promise<number> =>
  runVerb(sender, roomMessage, { to: room, n })

/** Posts a number to a user; returns the position of its event. */
export const postToUser = (sender: Sender, user: number, n = 1): Promise<number> =>
  runVerb(sender, userMessage, { to: user, n })

/** Users 1 to `users`, all members of the rooms 1 to `count`, whose uids are R1, R2 … */
export async function createRooms(database: TestDatabase, count: number, users: number): Promise<void> {
  await queryRows(
    database,
    `insert into room_profiles
       select r, 'R' || r, 'Room', '', now(), now(), 'test', 'r' || r, 'room' from generate_series(1, ${count}) r;
     insert into users select u, false, false, false, '[]', 0 from generate_series(1, ${users}) u;
     insert into rooms select r, 1, 0, 0 from generate_series(1, ${count}) r;
     insert into room_memberships select r, u, now() from generate_series(1, ${count}) r, generate_series(1, ${users}) u`,
  )
}

/** A room as its route answers it. */
export const chatRoom = (id: number): RoomResource => ({
  id,
  uid: `R${id}`,
  name: 'Room',
  cover_url: '',
  owner: { id: 1, name: '', avatar: '', avatar_url: '', uid: '' },
  members_count: 0,
  trophy_points: 0,
  created_at: '2026-01-01T00:00:00.000000Z',
  active_roulette_game: null,
})

/** The states of these rooms, without the profiles that those of the service need. */
export const chatRoomStates: FindRoomStates = async (db, roomIds) => {
  // Read before the rooms, which do not change.
  const position = await headOf(db)
  return new Map(roomIds.map((id) => [id, { position, room: chatRoom(id) }]))
}
