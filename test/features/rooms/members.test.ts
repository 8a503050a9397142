import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { joinedEvent, leaveRoom, removeMember } from '../../../src/features/rooms/member.ts'
import { cancelGame } from '../../../src/features/roulette/cancel.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { leaveGame, seats } from '../../../src/features/roulette/seats.ts'
import { credited } from '../../harness/ledger/event-fixtures.ts'
import { testSpins } from '../../harness/ledger/test-executor.ts'
import { openedGame, rouletteRules } from '../roulette/game-rules-fixture.ts'

const leave = leaveRoom(seats)
const remove = removeMember(seats)

const refused = (refusal: string) => ({ events: [], answer: undefined, refusal: { refusal } })

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of leaving a room, in order', async (t) => {
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
})

test('a creator without a seat may leave, and so may those who left the game', async (t) => {
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
})

test('a refund that does not fit refuses the whole removal', async (t) => {
  const { when, join, given } = openedGame()
  join(2)
  given(credited('user', 2, 'coins', MAX_INTEGER - 70))
  t.same(when(remove, { room_id: 1, user_id: 2 }), refused('balance_limit'))
  t.same(when(leave, { caller_id: 2, room: 1 }), refused('in_open_game'))
})

test('events that no verb could have written cannot be applied', async (t) => {
  const { given } = rouletteRules()
  t.throws(() => given(joinedEvent(1, 1)), /already is a member/)
  t.throws(() => given(joinedEvent(7, 1)), /room 7 does not exist/)
  t.throws(() => given({ type: 'room-left', data: { room_id: 1, user_id: 5 }, movements: [] }), /is not a member/)
})
