import { test } from 'tap'
import { type DefinedRoom, type DefineRoom, defineRoom } from '../../../src/features/rooms/define-room.ts'
import { evolveMembers, isMember, joinedEvent, roomMemberKey, roomMembers } from '../../../src/features/rooms/member.ts'
import { evolveRooms, roomProfiles, rooms, roomUids } from '../../../src/features/rooms/room.ts'
import { roomRecord } from '../../../src/features/rooms/verbs.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import { roomDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const room = (id: number, fields: Partial<DefineRoom> = {}): DefineRoom => ({ ...fields, id })

/** Users 1 and 2, and room 3 of user 1 with uid `majlis`. */
function roomRules() {
  const made = givenWhen(evolveUsers, evolveRooms, evolveMembers)
  made.given(userDefined(1), userDefined(2))
  made.when(defineRoom, room(3, { uid: 'majlis', name: 'Majlis', cover_url: '/c.png', owner_id: 1 }))
  return made
}

const record = ({ room, profile }: DefinedRoom) => roomRecord(room, profile)

test('omitted fields of a new room get defaults; the owner is required', async (t) => {
  const { when, state } = roomRules()
  const { events, answer } = when(defineRoom, room(4, { owner_id: 2 }))
  t.same(events, [
    { ...roomDefined(4, 2), position: 5, at: FIXED_NOW },
    { ...joinedEvent(4, 2), position: 6, at: FIXED_NOW },
  ])
  t.same(answer && record(answer), {
    id: 4,
    uid: 'r4',
    name: 'Room 4',
    cover_url: '',
    owner_id: 2,
    trophy_points: 0,
    created_at: '2026-11-21T08:00:00.000000Z',
  })
  t.match(state.get(roomProfiles, '4'), { created_at: FIXED_NOW, updated_at: FIXED_NOW, updated_by: 'staff:ann' })
})

test('omitted fields keep their values, and only a new owner writes an event', async (t) => {
  const { when, state } = roomRules()
  const later = { now: FIXED_NOW + 1, actor: 'staff:bob' }
  t.same(when(defineRoom, room(3), later).events, [])
  t.match(state.get(roomProfiles, '3'), { updated_at: FIXED_NOW }, 'the profile did not change')
  t.same(when(defineRoom, room(3, { owner_id: 1 }), later).events, [])

  const renamed = when(defineRoom, room(3, { name: 'Diwan' }), later)
  t.same(renamed.events, [])
  t.match(renamed.answer && record(renamed.answer), { uid: 'majlis', name: 'Diwan', cover_url: '/c.png', owner_id: 1 })
  t.match(state.get(roomProfiles, '3'), { created_at: FIXED_NOW, updated_at: later.now, updated_by: 'staff:bob' })

  t.match(when(defineRoom, room(3, { cover_url: '/d.png' })).answer?.profile, { name: 'Diwan', cover_url: '/d.png' })

  state.set(rooms, '3', { room_id: 3, owner_id: 1, trophy_points: 50, members_count: 1 })
  const { events, answer } = when(defineRoom, room(3, { owner_id: 2 }))
  t.same(
    events.map(({ data }) => data),
    [
      { room_id: 3, owner_id: 2 },
      { room_id: 3, user_id: 2 },
    ],
  )
  t.match(answer && record(answer), { owner_id: 2, trophy_points: 50 })
})

test('owners are members from the definition on; a former owner stays a member', async (t) => {
  const { when, state } = roomRules()
  t.match(state.get(roomMembers, roomMemberKey(3, 1)), { room_id: 3, user_id: 1, joined_at: FIXED_NOW })
  t.equal(state.get(rooms, '3')?.members_count, 1)
  when(defineRoom, room(3, { owner_id: 2 }))
  t.ok(isMember(state, 3, 1) && isMember(state, 3, 2))
  t.match(state.get(rooms, '3'), { owner_id: 2, members_count: 2 })
  t.same(
    when(defineRoom, room(3, { owner_id: 1 })).events.map(({ type }) => type),
    ['room-defined'],
    'who is a member already does not join again',
  )
})

test('a uid of digits is no id of another room, and an id no uid of another room', async (t) => {
  const { when, state } = roomRules()
  const taken = { refusal: 'validation_failed', errors: { uid: ['This value has already been taken.'] } }
  t.same(when(defineRoom, room(4, { uid: '3', owner_id: 1 })).refusal, taken)
  t.match(when(defineRoom, room(4, { uid: '77', owner_id: 1 })).answer?.profile, { uid: '77' })
  t.same(when(defineRoom, room(77, { owner_id: 1 })).refusal, {
    refusal: 'validation_failed',
    errors: { id: ['This is the uid of another room.'] },
  })
  t.match(when(defineRoom, room(3, { uid: '3' })).answer?.profile, { uid: '3' }, 'one’s own id')
  t.match(when(defineRoom, room(5, { uid: '003', owner_id: 1 })).answer?.profile, { uid: '003' }, 'which is no id')
  t.match(when(defineRoom, room(4, { uid: 'diwan' })).answer?.profile, { uid: 'diwan' })
  t.match(when(defineRoom, room(77, { owner_id: 1 })).answer?.room, { room_id: 77 }, 'once the uid is released')
  t.same(when(defineRoom, room(4, { uid: '77' })).refusal, taken)
  t.match(when(defineRoom, room(78, { uid: '78', owner_id: 1 })).answer?.profile, { uid: '78' })
  t.equal(state.get(roomUids, '78')?.room_id, 78)
})

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of a room, in order', async (t) => {
  const rows: readonly [DefineRoom, Record<string, string[]>][] = [
    [room(4, { uid: 'majlis' }), { uid: ['This value has already been taken.'] }],
    [room(4), { owner_id: ['This field is required.'] }],
    [room(4, { owner_id: 9 }), { owner_id: ['There is no user with this id.'] }],
    [room(3, { owner_id: 9 }), { owner_id: ['There is no user with this id.'] }],
  ]
  for (const [input, errors] of rows) {
    const { when, state } = roomRules()
    t.same(when(defineRoom, input), {
      events: [],
      answer: undefined,
      refusal: { refusal: 'validation_failed', errors },
    })
    t.equal(state.get(roomProfiles, '4'), undefined)
  }

  const { when } = roomRules()
  when(defineRoom, room(3, { uid: 'r4' }))
  t.match(when(defineRoom, room(4, { owner_id: 1 })).refusal, { errors: { uid: [String] } }, 'the default uid is taken')
  t.equal(when(defineRoom, room(3, { uid: 'r4' })).refusal, undefined, 'one’s own')
})
