import { test } from 'tap'
import type { WithdrawalStatus } from '../../schema/agency-events.ts'
import { eraseProfile } from '../../src/erasure/erase-profile.ts'
import { evolveWithdrawals } from '../../src/features/agency/withdrawals/withdrawal.ts'
import { devices, devicesOfUsers, registerDevice } from '../../src/features/users/device.ts'
import { erasedUid, evolveUsers, roleCounts, userProfiles, users, userUids } from '../../src/features/users/user.ts'
import { foldedNames } from '../../src/language/names.ts'
import { account, transfer } from '../../src/ledger/rules/account.ts'
import type { LedgerEvent } from '../../src/ledger/rules/event.ts'
import { changedData, requestedData } from '../features/withdrawal-events.ts'
import { credited, userDefined } from '../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, type GivenWhen, givenWhen } from '../harness/ledger/given-when.ts'

const new_uid = erasedUid('0123456789abcdef'.repeat(2))
const wallet = 'dollars'
const amount = 2_000
/** The position of the request. */
const withdrawal_id = 5

/** Users 1 and 2 with profiles; user 1 has dollars. */
function people(): GivenWhen {
  const ledger = givenWhen(evolveUsers, evolveWithdrawals)
  const since = { created_at: FIXED_NOW, updated_at: FIXED_NOW, updated_by: 'staff:ann' }
  for (const [user_id, uid] of [
    [1, 'amina'],
    [2, 'u1'],
  ] as const) {
    ledger.given(userDefined(user_id))
    const words = { user_id, uid, name: 'A name', avatar: 'a.png' }
    ledger.state.set(userProfiles, String(user_id), { ...words, ...foldedNames(words), ...since })
    ledger.state.set(userUids, uid, { uid, user_id })
    ledger.state.set(devices, `d${user_id}`, {
      token: `d${user_id}`,
      user_id,
      platform: 'ios',
      language: 'en',
      registered_at: FIXED_NOW,
    })
  }
  ledger.given(credited('user', 1, 'dollars', 9_000), credited('user', 1, 'agent_dollars', 9_000))
  return ledger
}

const requestedFrom = (wallet: 'dollars' | 'agent_dollars'): LedgerEvent<'withdrawal-requested'> => ({
  type: 'withdrawal-requested',
  data: requestedData({ wallet }),
  movements: [],
})
const requested = requestedFrom(wallet)

const accounts: Partial<Record<WithdrawalStatus, ReturnType<typeof account>>> = {
  pending: account('user', 1, wallet),
  approved: account('withdrawal', withdrawal_id, 'dollars'),
  transferred: account('settled', 2, 'dollars'),
}

const changed = (from: WithdrawalStatus, to: WithdrawalStatus): LedgerEvent<'withdrawal-status-changed'> => {
  const [debit, credit] = [accounts[from], accounts[to]]
  return {
    type: 'withdrawal-status-changed',
    data: changedData({ from, to }),
    movements: debit !== undefined && credit !== undefined ? [transfer(debit, credit, amount)] : [],
  }
}

test('a user with an open withdrawal is not erased, also one made just now', async (t) => {
  const rows: readonly (readonly [string, readonly LedgerEvent[], readonly number[], string | undefined])[] = [
    ['none', [], [], undefined],
    ['pending', [requested], [withdrawal_id], 'withdrawal_open'],
    ['pending and not listed', [requested], [], 'withdrawal_open'],
    ['pending in the other wallet', [requestedFrom('agent_dollars')], [], 'withdrawal_open'],
    ['approved', [requested, changed('pending', 'approved')], [withdrawal_id], 'withdrawal_open'],
    ['rejected meanwhile', [requested, changed('pending', 'rejected')], [withdrawal_id], undefined],
  ]
  for (const [name, facts, withdrawal_ids, refusal] of rows) {
    const { given, when } = people()
    given(...facts)
    const result = when(eraseProfile, { user_id: 1, new_uid, withdrawal_ids, devices: [] })
    t.equal(result.refusal?.refusal, refusal, name)
    t.equal(result.events.length, refusal === undefined ? 1 : 0, name)
  }
  t.match(people().when(eraseProfile, { user_id: 9, new_uid, withdrawal_ids: [], devices: [] }), {
    refusal: { refusal: 'not_found' },
  })
})

test('profile and devices of this user only are erased; repeating writes no event', async (t) => {
  const { when, state } = people()
  const input = { user_id: 1, new_uid, withdrawal_ids: [], devices: ['d1', 'd2'] }
  const { events } = when(eraseProfile, input, { now: FIXED_NOW + 5, actor: 'staff:bob' })
  t.match(events, [{ type: 'user-forgotten', data: { user_id: 1 }, movements: [] }])
  t.same(state.get(userProfiles, '1'), {
    user_id: 1,
    uid: new_uid,
    name: '',
    avatar: '',
    created_at: FIXED_NOW,
    updated_at: FIXED_NOW + 5,
    updated_by: 'staff:bob',
    uid_folded: new_uid,
    name_folded: '',
  })
  t.same([state.get(userUids, 'amina'), state.get(userUids, new_uid)], [undefined, { uid: new_uid, user_id: 1 }])
  t.same(state.get(devices, 'd1'), undefined)
  t.match(state.get(devices, 'd2'), { user_id: 2 }, 'it belongs to another user by now')
  t.match(state.get(userProfiles, '2'), { uid: 'u1', name: 'A name' })
  const later = erasedUid('f'.repeat(32))
  t.same(when(eraseProfile, { ...input, new_uid: later, devices: [] }).events, [])
  t.equal(state.get(userProfiles, '1')?.uid, new_uid)
})

test('a list of devices that is read later in the same batch has none of the erased user', async (t) => {
  const { when, state } = people()
  const tokens = Array.from({ length: 20 }, (_, i) => `old-${i}`)
  for (const token of tokens) {
    state.set(devices, token, { token, user_id: 1, platform: 'ios', language: 'en', registered_at: FIXED_NOW })
  }
  state.set(devicesOfUsers, '1', { user_id: 1, tokens })
  when(eraseProfile, { user_id: 1, new_uid, withdrawal_ids: [], devices: tokens })
  t.same(state.get(devicesOfUsers, '1')?.tokens, [])
  when(registerDevice, { user_id: 2, token: 'old-19', platform: 'ios', language: 'en' })
  when(registerDevice, { user_id: 1, token: 'new', platform: 'ios', language: 'en' })
  t.match(state.get(devices, 'old-19'), { user_id: 2 }, 'one more of user 1 replaces no device of user 2')
})

test('an erased agent or manager is none any more, also one who was erased before', async (t) => {
  const agent = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 } as const
  const defined = (roles: object) => ({ ...userDefined(1), data: { ...userDefined(1).data, ...roles } })
  const { given, when, state } = people()
  const counts = () => ['charging_agents', 'business_managers'].map((role) => state.get(roleCounts, role))
  given(defined({ ...agent, agency_countries: [{ country_id: 1, diamonds_per_dollar: 9_000 }] }))
  t.match(counts(), [{ users: 1 }, { users: 1 }])
  const input = { user_id: 1, new_uid, withdrawal_ids: [], devices: [] }
  const none = { charging_agent: 0, allow_receive_withdraw_requests: 0, business_manager: 0, agency_countries: [] }
  t.match(when(eraseProfile, input).events, [
    { type: 'user-defined', data: { user_id: 1, ...none } },
    { type: 'user-forgotten', data: { user_id: 1 } },
  ])
  t.match(state.get(users, '1'), { charging_agent: false, business_manager: false, agency_countries: [] })
  t.same(counts(), [undefined, undefined], 'no row counts nobody')
  given(defined(agent))
  t.match(when(eraseProfile, input).events, [{ type: 'user-defined', data: none }])
  t.same(when(eraseProfile, input).events, [])
})
