import { bagId, bagItems } from '../../src/gifts/bag.ts'
import type { Slice } from '../../src/http/slice.ts'
import { command } from '../../src/ledger/command.ts'
import type { Verb } from '../../src/ledger/decider.ts'
import type { Executor } from '../../src/ledger/executor.ts'
import { keyOf } from '../../src/ledger/state.ts'
import type { Announcer } from '../../src/live/announcer.ts'
import { peopleSlice } from '../../src/people/slice.ts'
import { rooms } from '../../src/rooms/room.ts'
import { rowsOf } from './ledger.ts'
import type { TestDatabase } from './postgres.ts'

/** What is said in rooms, to users and to all: events that are easily made, told as they are. */

const announcer: Announcer = {
  // A room's owner stands for what is said there; one above a million is said twice, one above two million to all too.
  'room-defined': ({ data: { room_id, owner_id } }) => {
    const said = { channel: `room:${room_id}`, event: 'said', wants: {}, data: () => ({ n: owner_id }) } as const
    const twice = owner_id > 1_000_000 ? [said, { ...said, event: 'said-again', enc: 'rot41' as const }] : [said]
    return owner_id > 2_000_000 ? [...twice, { ...said, channel: 'global' }] : twice
  },
  'bag-items-added': ({ data: { user_id, decoration_id } }) => [
    { channel: `user:${user_id}`, event: 'told', wants: { users: [user_id] }, data: () => ({ n: decoration_id }) },
  ],
}

export const talkSlices: readonly Slice[] = [peopleSlice, { published: '/v1', announcer }]

interface Said {
  readonly to: number
  readonly n: number
}

const inRoom: Verb<Said, number> = {
  reads: ({ to }) => [keyOf(rooms, to)],
  decide: (_state, { to, n }) => [{ type: 'room-defined', data: { room_id: to, owner_id: n }, movements: [] }],
  answer: (_state, _said, events) => events[0]?.position ?? 0,
}

const toUser: Verb<Said, number> = {
  reads: ({ to, n }) => [keyOf(bagItems, bagId(to, n))],
  decide: (_state, { to, n }) => [
    { type: 'bag-items-added', data: { user_id: to, decoration_id: n, quantity: 1, reason: 'told' }, movements: [] },
  ],
  answer: inRoom.answer,
}

let requests = 0

async function run(executor: Executor, verb: Verb<Said, number>, said: Said): Promise<number> {
  const cause = { actor: 'system', requestId: `say-${(requests += 1)}`, idempotency: null }
  const answered = (position: number) => ({ status: 200, body: String(position) })
  const refused = () => ({ status: 422, body: '0' })
  const { reply } = await executor.run(command(verb, said, cause, { answered, refused }))
  return Number(reply.body)
}

interface Speaker {
  readonly executor: Executor
}

/** Says a number in a room; answers its position. */
export const sayIn = ({ executor }: Speaker, room: number, n = 1): Promise<number> =>
  run(executor, inRoom, { to: room, n })

/** Tells a user a number; answers its position. */
export const tell = ({ executor }: Speaker, user: number, n = 1): Promise<number> =>
  run(executor, toUser, { to: user, n })

/** Users 1 to `users`, all members of the rooms 1 to `count`, whose uids are R1, R2 … */
export async function openRooms(database: TestDatabase, count: number, users: number): Promise<void> {
  await rowsOf(
    database,
    `insert into room_profiles select r, 'R' || r, 'Room', '', now(), now(), 'test' from generate_series(1, ${count}) r;
     insert into users select u, false, false, false, '[]', 0 from generate_series(1, ${users}) u;
     insert into room_members select r, u from generate_series(1, ${count}) r, generate_series(1, ${users}) u`,
  )
}
