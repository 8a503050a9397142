import { test } from 'tap'
import { defineCountry } from '../../../src/features/users/country.ts'
import { type DefineUsers, defineUsers, type UserFields } from '../../../src/features/users/define-user.ts'
import { evolveUsers, userProfiles, userUids } from '../../../src/features/users/user.ts'
import { userRecords } from '../../../src/features/users/verbs.ts'
import { userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const one = (id: number, fields: Partial<UserFields> = {}): DefineUsers => ({
  users: [{ ...fields, id }],
  listed: false,
})

const list = (...users: readonly UserFields[]): DefineUsers => ({ users, listed: true })

const invalid = (errors: Record<string, string[]>) => ({ refusal: 'validation_failed', errors })
const taken = ['This value has already been taken.']
const twice = ['This value appears more than once in the list.']

/** Users 1 and 2, with uids a and b, and countries 20 and 30. */
function userRules() {
  const made = givenWhen(evolveUsers)
  for (const id of [20, 30]) made.when(defineCountry, { id, name: `Country ${id}` })
  made.when(defineUsers, list({ id: 1, uid: 'a' }, { id: 2, uid: 'b' }))
  return made
}

test('omitted fields of a new user get defaults', async (t) => {
  const { when, state } = givenWhen(evolveUsers)
  const { events, answer } = when(defineUsers, one(7))
  t.same(events, [{ ...userDefined(7), position: 1, at: FIXED_NOW }])
  const profile = { uid: 'u7', name: 'User 7', avatar: '' }
  const { user_id: id, ...roles } = userDefined(7).data
  t.same(answer && userRecords(answer, 'http://assets.test'), [
    { id, ...profile, avatar_url: '', ...roles, created_at: '2026-11-21T08:00:00.000000Z' },
  ])
  const noted = { created_at: FIXED_NOW, updated_at: FIXED_NOW, updated_by: 'staff:ann' }
  t.same(state.get(userProfiles, '7'), {
    user_id: 7,
    ...profile,
    uid_folded: 'u7',
    name_folded: 'user 7',
    ...noted,
  })
})

test('omitted fields keep their values', async (t) => {
  const { when, state } = userRules()
  const agency_countries = [{ country_id: 20, diamonds_per_dollar: 9_000 }]
  const agent = { charging_agent: true, allow_receive_withdraw_requests: true }
  when(defineUsers, one(1, { name: 'Aya', avatar: 'a/1.png', ...agent, agency_countries }))
  const later = { now: FIXED_NOW + 5_000_000, actor: 'staff:bob' }
  const { events, answer } = when(defineUsers, one(1, { business_manager: true }), later)
  const all = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 } as const
  t.same(events[0]?.data, userDefined(1, { ...all, agency_countries }).data)
  t.match(answer && userRecords(answer, 'http://assets.test'), [
    { uid: 'a', name: 'Aya', avatar: 'a/1.png', created_at: '2026-11-21T08:00:00.000000Z' },
  ])
  const before = { updated_at: FIXED_NOW, updated_by: 'staff:ann' }
  t.match(state.get(userProfiles, '1'), before, 'the profile did not change')

  t.same(when(defineUsers, one(1, { name: 'Aya B' }), later).events, [], 'a new name writes no event')
  const after = { name: 'Aya B', created_at: FIXED_NOW, updated_at: later.now, updated_by: 'staff:bob' }
  t.match(state.get(userProfiles, '1'), after)
})

test('only changed users write an event', async (t) => {
  const agency_countries = [
    { country_id: 20, diamonds_per_dollar: 9_000 },
    { country_id: 30, diamonds_per_dollar: 9_000 },
  ]
  const rows: readonly [Partial<UserFields>, number][] = [
    [{}, 0],
    [{ uid: 'a', name: 'Aya', charging_agent: true, allow_receive_withdraw_requests: false }, 0],
    [{ agency_countries }, 0],
    [{ charging_agent: false }, 1],
    [{ allow_receive_withdraw_requests: true }, 1],
    [{ business_manager: true }, 1],
    [{ agency_countries: [] }, 1],
    [{ agency_countries: agency_countries.slice(0, 1) }, 1],
    [{ agency_countries: agency_countries.toReversed() }, 1],
    [{ agency_countries: [{ country_id: 20, diamonds_per_dollar: 8_000 }, ...agency_countries.slice(1)] }, 1],
  ]
  for (const [fields, count] of rows) {
    const { when } = userRules()
    when(defineUsers, one(1, { charging_agent: true, agency_countries }))
    t.equal(when(defineUsers, one(1, fields)).events.length, count, JSON.stringify(fields))
  }
  const { when } = userRules()
  const { events } = when(defineUsers, list({ id: 1 }, { id: 2, business_manager: true }, { id: 3 }))
  t.same(
    events.map(({ data }) => data),
    [userDefined(2, { business_manager: 1 }).data, userDefined(3).data],
  )
})

test('users of a list may swap uids', async (t) => {
  const { when, state } = userRules()
  const { answer } = when(defineUsers, list({ id: 1, uid: 'b' }, { id: 2, uid: 'a' }, { id: 3, uid: 'u1' }))
  t.match(answer && userRecords(answer, 'http://assets.test'), [{ uid: 'b' }, { uid: 'a' }, { uid: 'u1' }])
  t.equal(state.get(userUids, 'a')?.user_id, 2)
  t.equal(state.get(userUids, 'b')?.user_id, 1)

  when(defineUsers, one(1, { uid: 'c' }))
  t.equal(state.get(userUids, 'b'), undefined, 'let go')
  t.equal(when(defineUsers, one(4, { uid: 'b' })).refusal, undefined, 'and the released uid is free')
})

// Rows of one list in the order of precedence: each breaks its own rule and those of the rows below.
test('refusals of users, in order', async (t) => {
  const unknown = [{ country_id: 40, diamonds_per_dollar: 1 }]
  const known = { country_id: 20, diamonds_per_dollar: 1 }
  const country = (user: number, i: number, error: string[]) => ({
    [`users.${user}.agency_countries.${i}.country_id`]: error,
  })
  const [knownTwice, ofThem] = [
    [known, known],
    [known, known, ...unknown],
  ]
  const rows: readonly [string, DefineUsers, Record<string, string[]>][] = [
    ['taken', list({ id: 3, uid: 'a', agency_countries: unknown }, { id: 3 }), { 'users.0.uid': taken }],
    ['twice in the list', list({ id: 3, uid: 'x' }, { id: 3, agency_countries: unknown }), { 'users.1.id': twice }],
    [
      'unknown countries',
      list({ id: 3 }, { id: 4, agency_countries: ofThem }),
      country(1, 2, ['There is no country with this id.']),
    ],
    ['countries twice', list({ id: 3, agency_countries: knownTwice }), country(0, 1, twice)],
  ]
  for (const [name, input, errors] of rows) {
    t.same(userRules().when(defineUsers, input), { events: [], answer: undefined, refusal: invalid(errors) }, name)
  }
})

test('conflicts of uids', async (t) => {
  const both = { 'users.0.uid': taken, 'users.1.uid': taken }
  const rows: readonly [string, DefineUsers, Record<string, string[]> | undefined][] = [
    ["another's", one(3, { uid: 'a' }), { uid: taken }],
    ['one’s own', one(1, { uid: 'a' }), undefined],
    ['the same uid twice in a list', list({ id: 3, uid: 'x' }, { id: 4, uid: 'x' }), both],
    ['one that another user of the list keeps', list({ id: 3, uid: 'a' }, { id: 1 }), both],
    ['one that another user of the list releases', list({ id: 3, uid: 'a' }, { id: 1, uid: 'z' }), undefined],
    ['the default uid of another user of the list', list({ id: 3, uid: 'u4' }, { id: 4 }), both],
    ['the default uid of an existing user who has another', list({ id: 3, uid: 'u1' }, { id: 1 }), undefined],
    ['in upper case', one(3, { uid: 'A' }), undefined],
  ]
  for (const [name, input, errors] of rows) {
    t.same(userRules().when(defineUsers, input).refusal, errors && invalid(errors), name)
  }

  const { when } = userRules()
  when(defineUsers, one(1, { uid: 'u5' }))
  t.same(when(defineUsers, one(5)).refusal, invalid({ uid: taken }), 'a default uid that is taken')
})

test('a list is applied completely or not at all', async (t) => {
  const { when, state } = userRules()
  when(defineUsers, list({ id: 3, name: 'new' }, { id: 4, uid: 'a' }))
  t.equal(state.get(userProfiles, '3'), undefined)
})
