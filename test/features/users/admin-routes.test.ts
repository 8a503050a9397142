import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { bodyOf, dataOf, idsOf, instant } from '../answers.ts'

test('routes of users', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t)

  await t.test('countries are created, renamed and paged', async (t) => {
    for (const body of [{}, { name: '' }]) {
      const refused = await operator('PUT', '/admin/v1/countries/1', body)
      t.match(refused, { status: 422, body: { code: 'validation_failed', errors: { name: [String] } } })
    }
    t.equal((await operator('GET', '/admin/v1/countries/1')).status, 404)
    const made = await operator('PUT', '/admin/v1/countries/20', { name: 'Egypt' })
    t.match(made, { status: 200, body: { data: { id: 20, name: 'Egypt', created_at: instant } } })
    t.same((await operator('GET', '/admin/v1/countries/20')).body, made.body)
    await operator('PUT', '/admin/v1/countries/10', { name: 'Jordan' })
    const first = await operator('GET', '/admin/v1/countries?limit=1')
    t.same(idsOf(first), [10])
    const rest = await operator('GET', `/admin/v1/countries?limit=1&cursor=${bodyOf(first).meta.next_cursor}`)
    t.match(rest.body, { data: [{ id: 20 }], meta: { next_cursor: null } })
    t.match(await queryRows(database, 'select updated_by from countries'), [{ updated_by: 'staff:ann' }, {}])
    t.same(await queryRows(database, 'select 1 from ledger'), [], 'words alone')
  })

  await t.test('operators define users', async (t) => {
    const made = await operator('PUT', '/admin/v1/users/7', {
      name: 'Aya',
      charging_agent: '1',
      allow_receive_withdraw_requests: 'true',
      business_manager: 0,
      agency_countries: [{ diamonds_per_dollar: 9_000, country_id: 10, rank: 5 }, { country_id: 20 }],
      sessions_revoked_before: 99,
      coins: 1_000,
    })
    t.equal(made.status, 200)
    const flags = { charging_agent: 1, allow_receive_withdraw_requests: 1, business_manager: 0 }
    const agency_countries = [
      { country_id: 10, diamonds_per_dollar: 9_000 },
      { country_id: 20, diamonds_per_dollar: 10_000 },
    ]
    const record = { id: 7, uid: 'u7', name: 'Aya', avatar: '', avatar_url: '', ...flags, agency_countries }
    t.match(made.body, { data: { ...record, created_at: instant } })
    t.same((await operator('GET', '/admin/v1/users/7')).body, made.body, 'GET returns what PUT returned')
    const changed = await operator('PUT', '/admin/v1/users/7', { agency_countries: [], charging_agent: false })
    t.match(changed.body, { data: { ...record, charging_agent: 0, agency_countries: [] } })
    t.same((await operator('PUT', '/admin/v1/users/7')).body, changed.body, 'a request without a body changes nothing')
    t.same((await operator('GET', '/admin/v1/users/7')).body, changed.body)
    t.same(
      await queryRows(database, 'select type, actor, data from ledger order by position'),
      [
        { ...flags, agency_countries },
        { ...flags, charging_agent: 0, agency_countries: [] },
      ].map((data) => ({ type: 'user-defined', actor: 'staff:ann', data: JSON.stringify({ user_id: 7, ...data }) })),
    )
  })

  await t.test('invalid users are refused', async (t) => {
    await operator('PUT', '/admin/v1/users/1', { uid: 'a' })
    for (const id of ['0', '9007199254740992', 'abc'])
      t.equal((await operator('PUT', `/admin/v1/users/${id}`, {})).status, 404, id)
    t.equal((await operator('POST', '/admin/v1/users/2/revoke-sessions')).status, 404)
    const one: readonly (readonly [body: object, field: string])[] = [
      [{ uid: '' }, 'uid'],
      [{ uid: 'x'.repeat(65) }, 'uid'],
      [{ uid: 'a\u0000b' }, 'uid'],
      [{ uid: 'a' }, 'uid'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ avatar: 'x'.repeat(501) }, 'avatar'],
      [{ charging_agent: 2 }, 'charging_agent'],
      [{ agency_countries: [{}] }, 'agency_countries.0.country_id'],
      [{ agency_countries: [{ country_id: 5 }] }, 'agency_countries.0.country_id'],
    ]
    const several: readonly (readonly [users: readonly object[] | undefined, field: string])[] = [
      [undefined, 'users'],
      [[], 'users'],
      [Array.from({ length: 1_001 }, (_, i) => ({ id: i + 1 })), 'users'],
      [[{ id: 2 }, { name: 'x' }], 'users.1.id'],
      [[{ id: 2 }, { id: 3, uid: 'a' }], 'users.1.uid'],
      [[{ id: 2 }, { id: 2 }], 'users.1.id'],
    ]
    const refusals = [
      ...one.map(([body, field]) => [() => operator('PUT', '/admin/v1/users/2', body), field, body] as const),
      ...several.map(([users, field]) => [() => operator('POST', '/admin/v1/users', { users }), field, users] as const),
    ]
    for (const [send, field, sent] of refusals) {
      const expected = { status: 422, body: { code: 'validation_failed', errors: { [field]: [String] } } }
      t.match(await send(), expected, JSON.stringify(sent)?.slice(0, 80))
    }
    t.same(idsOf(await operator('GET', '/admin/v1/users')), [1, 7])
    for (const id of ['2', 'x']) t.equal((await operator('GET', `/admin/v1/users/${id}`)).status, 404)
  })

  await t.test('revoked sessions expire immediately', async (t) => {
    const before = user(7, 10)
    t.equal((await before('GET', '/v1/rooms/1')).status, 404)
    const revoked = await operator('POST', '/admin/v1/users/7/revoke-sessions')
    t.match(revoked, { status: 200, body: { data: { id: 7, sessions_revoked_before: /\.000000Z$/ } } })
    t.equal((await before('GET', '/v1/rooms/1')).status, 440)
    t.equal((await user(7)('GET', '/v1/rooms/1')).status, 404, 'a token of this second stays valid')
  })

  await t.test('many users at once, then page by page, in responses below 1 MiB', async (t) => {
    const users = Array.from({ length: 1_000 }, (_, i) => ({ id: i + 1_001, name: `N${i}` }))
    const made = await operator('POST', '/admin/v1/users', { users }, { 'idempotency-key': 'first' })
    t.equal(made.status, 200)
    t.match(made.body, { data: users })
    const again = await operator('POST', '/admin/v1/users', { users }, { 'idempotency-key': 'first' })
    t.equal(again.text, made.text)
    t.equal(again.headers['idempotency-replayed'], 'true')

    const [first, second] = [1_001, 1_002]
    const swapped = [
      { id: first, uid: `u${second}` },
      { id: second, uid: `u${first}` },
    ]
    t.match((await operator('POST', '/admin/v1/users', { users: swapped })).body, { data: swapped })
    await operator('PUT', '/admin/v1/users/1000', {})
    const seen: number[] = []
    for (let cursor = ''; seen.length < 1_001; ) {
      const page = await operator('GET', `/admin/v1/users?limit=200&cursor=${cursor}`)
      seen.push(...idsOf(page))
      cursor = bodyOf(page).meta.next_cursor
    }
    t.same(seen.slice(0, 1_001), [1_000, ...users.map(({ id }) => id).toReversed()])
    t.equal((await operator('GET', '/admin/v1/users?cursor=MTIz')).status, 422, 'a cursor of another list')

    const avatar = '€'.repeat(250)
    for (const half of [users.slice(0, 500), users.slice(500)]) {
      const long = await operator('POST', '/admin/v1/users', { users: half.map(({ id }) => ({ id, avatar })) })
      t.equal(dataOf(long).length, 500)
    }
    const all = await operator('POST', '/admin/v1/users', { users: users.map(({ id }) => ({ id, name: 'A' })) })
    t.equal(all.status, 200)
    t.ok(Buffer.byteLength(all.text) < 1_048_576, `${Buffer.byteLength(all.text)} bytes`)
    t.ok(idsOf(all).length > 500)
    t.same(
      idsOf(all),
      users.slice(0, idsOf(all).length).map(({ id }) => id),
      'the first of them, in order',
    )
    const named = await queryRows(database, `select count(*)::int as named from user_profiles where name = 'A'`)
    t.same(named, [{ named: '1000' }])
  })
  t.same(ledger.bugs, [])
})
