import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/max-integer.ts'
import { joinRoom } from '../../../src/features/rooms/members/join-room.ts'
import { leaveRoom } from '../../../src/features/rooms/members/leave-room.ts'
import { formerMembers, joinedEvent, roomMemberKey } from '../../../src/features/rooms/members/member.ts'
import { recordMembers } from '../../../src/features/rooms/members/record-members.ts'
import { removeMember } from '../../../src/features/rooms/members/remove-member.ts'
import { rooms } from '../../../src/features/rooms/room.ts'
import { cancelGame } from '../../../src/features/roulette/cancel.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { leaveGame } from '../../../src/features/roulette/seats/leave.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import type { WritableState } from '../../../src/ledger/rules/state.ts'
import { credited } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { testSpins } from '../../harness/ledger/test-executor.ts'
import { openedGame, rouletteRules } from '../roulette/game-rules-fixture.ts'

const leave = leaveRoom(seats)
const remove = removeMember(seats)

const facts = (events: readonly PositionedEvent[]) => events.map(({ type, data }) => ({ type, data }))
const refused = (refusal: string) => ({ events: [], answer: undefined, refusal: { refusal } })

/** Makes a member as the version before wrote one. */
function setFormer(state: WritableState, room_id: number, user_id: number, joined_at: number): void {
  state.set(formerMembers, roomMemberKey(room_id, user_id), { room_id, user_id, joined_at })
}

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of leaving a room, in order', (t) => {
  const { when, given } = openedGame()
  for (const [caller_id, room, refusal] of [
    [9, 'R9', 'not_found'],
    [9, 'R1', 'room_owner'],
    [5, 'R1', 'not_room_member'],
    [1, 'R1', 'in_open_game'],
  ] as const) {
    t.same(when(leave, { caller_id, room }), refused(refusal), refusal)
  }
  given(joinedEvent(1, 9))
  t.same(when(leave, { caller_id: 9, room: 'R1' }), refused('room_owner'))
  t.end()
})

test('a creator without a seat may leave, and whoever left the game', (t) => {
  const watching = openedGame({ join_admin: false })
  t.equal(watching.when(leave, { caller_id: 1, room: 1 }).refusal, undefined)
  t.same(watching.join(1).refusal, { refusal: 'not_room_member' })
  t.equal(watching.when(cancelGame, watching.at(1)).refusal, undefined, 'the game is still theirs')

  const seated = openedGame()
  seated.join(2)
  seated.when(leaveGame, seated.at(2))
  t.equal(seated.when(leave, { caller_id: 2, room: 1 }).refusal, undefined)
  seated.join(3)
  t.equal(seated.when(finishGame(testSpins), seated.at(3)).refusal, undefined)
  t.equal(seated.when(leave, { caller_id: 3, room: 1 }).refusal, undefined, 'the game is over')
  t.end()
})

test('a refund that does not fit refuses the whole removal', (t) => {
  const { when, join, given } = openedGame()
  join(2)
  given(credited('user', 2, 'coins', MAX_INTEGER - 70))
  t.same(when(remove, { room_id: 1, user_id: 2 }), refused('balance_limit'))
  t.same(when(leave, { caller_id: 2, room: 1 }), refused('in_open_game'))
  t.end()
})

test('members of the version before are members, and are put on the ledger when they leave', (t) => {
  const { when, state } = rouletteRules()
  const joined_at = FIXED_NOW - 1_000
  for (const user of [5, 9]) setFormer(state, 1, user, joined_at)
  t.same(when(joinRoom, { caller_id: 5, room_id: 1 }).events, [], 'again')
  t.same(facts(when(leave, { caller_id: 5, room: 1 }).events), [
    { type: 'room-members-recorded', data: { room_id: 1, members: [{ user_id: 5, joined_at }] } },
    { type: 'room-left', data: { room_id: 1, user_id: 5 } },
  ])
  t.equal(state.get(formerMembers, roomMemberKey(1, 5)), undefined)
  t.equal(state.get(rooms, '1')?.members_count, 4)
  setFormer(state, 1, 5, joined_at)
  t.equal(when(remove, { room_id: 1, user_id: 5 }).events.length, 2)
  t.equal(state.get(formerMembers, roomMemberKey(1, 5)), undefined)
  t.end()
})

test('members of the version before and owners are recorded once, with the times that are known', (t) => {
  const { when, state } = rouletteRules()
  setFormer(state, 1, 5, 7)
  setFormer(state, 2, 3, 8)
  // Joined again through an instance of the version before.
  setFormer(state, 1, 4, 9)
  // A room that was never defined.
  setFormer(state, 6, 4, 9)
  const candidates = [
    { room_id: 1, user_id: 5 },
    { room_id: 1, user_id: 4 },
    { room_id: 2, user_id: 3 },
    { room_id: 6, user_id: 4 },
    { room_id: 1, user_id: 9 },
    { room_id: 2, user_id: 5 },
  ]
  const { events, answer } = when(recordMembers, { candidates })
  t.same(facts(events), [
    {
      type: 'room-members-recorded',
      data: {
        room_id: 1,
        members: [
          { user_id: 5, joined_at: 7 },
          { user_id: 9, joined_at: FIXED_NOW },
        ],
      },
    },
    { type: 'room-members-recorded', data: { room_id: 2, members: [{ user_id: 3, joined_at: 8 }] } },
  ])
  t.equal(answer, 3)
  t.same(
    [1, 2].map((room) => state.get(rooms, String(room))?.members_count),
    [6, 3],
  )
  for (const { room_id, user_id } of candidates.slice(0, 3)) {
    t.equal(state.get(formerMembers, roomMemberKey(room_id, user_id)), undefined)
  }
  t.same(when(recordMembers, { candidates }), { events: [], answer: 0, refusal: undefined })
  t.end()
})

test('events that no verb could have written cannot be applied', (t) => {
  const { given } = rouletteRules()
  t.throws(() => given(joinedEvent(1, 1)), /already is a member/)
  t.throws(() => given(joinedEvent(7, 1)), /room 7 does not exist/)
  const members = [{ user_id: 1, joined_at: 1 }]
  t.throws(() => given({ type: 'room-members-recorded', data: { room_id: 1, members }, movements: [] }), /already/)
  t.throws(() => given({ type: 'room-left', data: { room_id: 1, user_id: 5 }, movements: [] }), /is not a member/)
  t.end()
})
