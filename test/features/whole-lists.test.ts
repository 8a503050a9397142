import { test } from 'tap'
import { definePackage, evolvePackages, MAX_PACKAGES } from '../../src/features/privilege/package.ts'
import { COUNTRIES, countryCounts, defineCountry, MAX_COUNTRIES } from '../../src/features/users/country.ts'
import { defineUsers, type UserFields } from '../../src/features/users/define-user.ts'
import { evolveUsers, MAX_USERS_OF_ROLE, roleCounts } from '../../src/features/users/user.ts'
import { packageDefined, userDefined } from '../harness/ledger/event-fixtures.ts'
import { givenWhen } from '../harness/ledger/given-when.ts'

const full = { refusal: 'holding_limit' }

test('one country or package beyond the limit is refused, and those that exist can still be changed', async (t) => {
  const { given, when, state } = givenWhen(evolvePackages)
  state.set(countryCounts, COUNTRIES, { list: COUNTRIES, countries: MAX_COUNTRIES - 1 })
  t.equal(when(defineCountry, { id: 1, name: 'Egypt' }).refusal, undefined)
  t.same(when(defineCountry, { id: 2, name: 'Oman' }).refusal, full)
  t.match(when(defineCountry, { id: 2 }).refusal, { refusal: 'validation_failed' }, 'fields are checked first')
  t.equal(when(defineCountry, { id: 1, name: 'Misr' }).refusal, undefined)

  for (let id = 1; id < MAX_PACKAGES; id += 1) given(packageDefined(id, 1, 30))
  const gold = { name: 'Gold', rank: 1, valid_days: 30 }
  t.equal(when(definePackage, { ...gold, privilege_package_id: MAX_PACKAGES }).refusal, undefined)
  t.same(when(definePackage, { ...gold, privilege_package_id: MAX_PACKAGES + 1 }).refusal, full)
  t.match(when(definePackage, { privilege_package_id: MAX_PACKAGES + 1 }).refusal, { refusal: 'validation_failed' })
  t.equal(when(definePackage, { ...gold, privilege_package_id: 1 }).refusal, undefined)
})

const agent = { charging_agent: true, allow_receive_withdraw_requests: true }
const manager = { business_manager: true }

/** Users 1 and 2, who are agents and managers, user 3, who is neither, and as many others with both roles as there may be. */
function fullRoles() {
  const ledger = givenWhen(evolveUsers)
  const bits = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 1 } as const
  for (const id of [1, 2]) ledger.given(userDefined(id, bits))
  ledger.given(userDefined(3))
  for (let id = 11; id < 11 + MAX_USERS_OF_ROLE - 2; id += 1) ledger.given(userDefined(id, bits))
  return ledger
}

test('charging agents and business managers are limited by how many there are after the whole request', async (t) => {
  const rows: readonly (readonly [string, readonly UserFields[], object | undefined])[] = [
    ['a new agent', [{ id: 4, ...agent }], full],
    ['a new manager', [{ id: 4, ...manager }], full],
    ['a user who becomes an agent', [{ id: 3, ...agent }], full],
    ['an agent who accepts no requests', [{ id: 3, charging_agent: true }], undefined],
    ['one who accepts requests and is no agent', [{ id: 3, allow_receive_withdraw_requests: true }], undefined],
    ['an agent defined again', [{ id: 1, ...agent, name: 'Aya' }], undefined],
    [
      'an agent for another',
      [
        { id: 3, ...agent },
        { id: 1, charging_agent: false },
      ],
      undefined,
    ],
    [
      'two agents for another',
      [
        { id: 3, ...agent },
        { id: 4, ...agent },
        { id: 1, charging_agent: false },
      ],
      full,
    ],
    [
      'an agent for a manager',
      [
        { id: 3, ...agent },
        { id: 1, business_manager: false },
      ],
      full,
    ],
    ['agents who leave', [1, 2].map((id) => ({ id, allow_receive_withdraw_requests: false })), undefined],
  ]
  for (const [name, users, refusal] of rows) {
    t.same(fullRoles().when(defineUsers, { users, listed: true }).refusal, refusal, name)
  }
})

test('where there are more than the limit already, they can be changed and can leave', async (t) => {
  const { given, when, state } = fullRoles()
  given(userDefined(4, { business_manager: 1 }), userDefined(5, { business_manager: 1 }))
  const define = (fields: UserFields) => when(defineUsers, { users: [fields], listed: false }).refusal
  t.equal(define({ id: 4, ...manager, allow_receive_withdraw_requests: true }), undefined)
  t.equal(define({ id: 4, business_manager: false }), undefined)
  t.equal(state.get(roleCounts, 'business_managers')?.users, MAX_USERS_OF_ROLE + 1)
  t.same(define({ id: 4, ...manager }), full)
})
