import { test } from 'tap'
import { devices, registerDevice, removeDevice } from '../../../src/features/users/device.ts'
import { evolveUsers, revokeSessions, users } from '../../../src/features/users/user.ts'
import { revokedSessions } from '../../../src/features/users/verbs.ts'
import { userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

test('revoking expires tokens issued before this second', async (t) => {
  const { given, when, state } = givenWhen(evolveUsers)
  t.same(when(revokeSessions, { user_id: 7 }).refusal, { refusal: 'not_found' })
  given(userDefined(7))
  const { events, answer } = when(revokeSessions, { user_id: 7 }, { now: FIXED_NOW + 3_999_999 })
  t.same(
    events.map(({ type, data, movements }) => ({ type, data, movements })),
    [{ type: 'sessions-revoked', data: { user_id: 7, before: FIXED_NOW / 1_000_000 + 3 }, movements: [] }],
  )
  t.same(answer && revokedSessions(answer), { id: 7, sessions_revoked_before: '2026-11-21T08:00:03.000000Z' })

  given(userDefined(7, { charging_agent: 1 }))
  t.match(state.get(users, '7'), { charging_agent: true, sessions_revoked_before: FIXED_NOW / 1_000_000 + 3 })
})

test('a device that was removed or moved within a batch does not count towards the limit', async (t) => {
  const { when, state } = givenWhen()
  const register = (user_id: number, token: string) =>
    when(registerDevice, { user_id, token, platform: 'ios', language: 'en' })
  for (let i = 0; i < 20; i += 1) register(1, `d${i}`)
  register(2, 'd0')
  when(removeDevice, { user_id: 1, token: 'd1' })
  register(2, 'd1')
  for (const token of ['d20', 'd21', 'd22']) register(1, token)
  const holders = ['d0', 'd1', 'd2', 'd3', 'd22'].map((token) => state.get(devices, token)?.user_id)
  t.same(holders, [2, 2, undefined, 1, 1])
})
