import { test } from 'tap'
import { createRoomsSlice } from '../../../src/features/rooms/slice.ts'
import { activeGame } from '../../../src/features/roulette/reads.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const roomsSlice = createRoomsSlice(activeGame, seats)

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('operators define users', async (t) => {
  const { operator, database, ledger } = await createTestApp(t, [usersSlice])
  for (const id of [1, 2]) t.equal((await operator('PUT', `/admin/v1/countries/${id}`, { name: `C${id}` })).status, 200)

  const made = await operator('PUT', '/admin/v1/users/7', {
    name: 'Aya',
    charging_agent: '1',
    allow_receive_withdraw_requests: 'true',
    business_manager: 0,
    agency_countries: [{ diamonds_per_dollar: 9_000, country_id: 1, rank: 5 }, { country_id: 2 }],
    sessions_revoked_before: 99,
    coins: 1_000,
  })
  t.equal(made.status, 200)
  const user = {
    id: 7,
    uid: 'u7',
    name: 'Aya',
    avatar: '',
    avatar_url: '',
    charging_agent: 1,
    allow_receive_withdraw_requests: 1,
    business_manager: 0,
    agency_countries: [
      { country_id: 1, diamonds_per_dollar: 9_000 },
      { country_id: 2, diamonds_per_dollar: 10_000 },
    ],
  }
  t.match(made.body, { data: { ...user, created_at: instant } })
  t.same((await operator('GET', '/admin/v1/users/7')).body, made.body, 'GET returns what PUT returned')

  const { agency_countries, ...rest } = user
  const changed = await operator('PUT', '/admin/v1/users/7', { agency_countries: [], charging_agent: false })
  t.match(changed.body, { data: { ...rest, charging_agent: 0, agency_countries: [] } })
  t.same((await operator('PUT', '/admin/v1/users/7')).body, changed.body, 'a request without a body changes nothing')
  t.same((await operator('GET', '/admin/v1/users/7')).body, changed.body)

  t.same(await queryRows(database, 'select type, actor, data from ledger_events order by position'), [
    {
      type: 'user-defined',
      actor: 'staff:ann',
      data: JSON.stringify({
        user_id: 7,
        charging_agent: 1,
        allow_receive_withdraw_requests: 1,
        business_manager: 0,
        agency_countries,
      }),
    },
    {
      type: 'user-defined',
      actor: 'staff:ann',
      data: JSON.stringify({
        user_id: 7,
        charging_agent: 0,
        allow_receive_withdraw_requests: 1,
        business_manager: 0,
        agency_countries: [],
      }),
    },
  ])
  t.same(ledger.bugs, [])
})

test('invalid users are refused', async (t) => {
  const { operator, ledger } = await createTestApp(t, [usersSlice])
  await operator('PUT', '/admin/v1/users/1', { uid: 'a' })
  const rows: readonly [method: 'PUT' | 'POST', url: string, body: unknown, status: number, field?: string][] = [
    ['PUT', '/admin/v1/users/0', {}, 404],
    ['PUT', '/admin/v1/users/9007199254740992', {}, 404],
    ['PUT', '/admin/v1/users/abc', {}, 404],
    ['POST', '/admin/v1/users/2/revoke-sessions', undefined, 404],
    ['PUT', '/admin/v1/users/2', { uid: '' }, 422, 'uid'],
    ['PUT', '/admin/v1/users/2', { uid: 'x'.repeat(65) }, 422, 'uid'],
    ['PUT', '/admin/v1/users/2', { uid: 'a\u0000b' }, 422, 'uid'],
    ['PUT', '/admin/v1/users/2', { uid: 5 }, 422, 'uid'],
    ['PUT', '/admin/v1/users/2', { uid: 'a' }, 422, 'uid'],
    ['PUT', '/admin/v1/users/2', { name: 'x'.repeat(101) }, 422, 'name'],
    ['PUT', '/admin/v1/users/2', { name: '\ud800' }, 422, 'name'],
    ['PUT', '/admin/v1/users/2', { name: 5 }, 422, 'name'],
    ['PUT', '/admin/v1/users/2', { avatar: 'x'.repeat(501) }, 422, 'avatar'],
    ['PUT', '/admin/v1/users/2', { charging_agent: 'yes' }, 422, 'charging_agent'],
    ['PUT', '/admin/v1/users/2', { charging_agent: 2 }, 422, 'charging_agent'],
    ['PUT', '/admin/v1/users/2', { agency_countries: [{}] }, 422, 'agency_countries.0.country_id'],
    ['PUT', '/admin/v1/users/2', { agency_countries: [{ country_id: 5 }] }, 422, 'agency_countries.0.country_id'],
    ['POST', '/admin/v1/users', undefined, 422, 'users'],
    ['POST', '/admin/v1/users', { users: [] }, 422, 'users'],
    ['POST', '/admin/v1/users', { users: Array.from({ length: 1_001 }, (_, i) => ({ id: i + 1 })) }, 422, 'users'],
    ['POST', '/admin/v1/users', { users: [{ id: 2 }, { name: 'x' }] }, 422, 'users.1.id'],
    ['POST', '/admin/v1/users', { users: [{ id: 2 }, { id: '3' }] }, 422, 'users.1.id'],
    ['POST', '/admin/v1/users', { users: [{ id: 2 }, { id: 3, uid: 'a' }] }, 422, 'users.1.uid'],
    ['POST', '/admin/v1/users', { users: [{ id: 2 }, { id: 2 }] }, 422, 'users.1.id'],
    ['PUT', '/admin/v1/countries/1', {}, 422, 'name'],
    ['PUT', '/admin/v1/countries/1', { name: '' }, 422, 'name'],
  ]
  for (const [method, url, body, status, field] of rows) {
    const refused = await operator(method, url, body)
    const about = `${method} ${url} ${JSON.stringify(body)?.slice(0, 80)}`
    t.equal(refused.status, status, about)
    if (field !== undefined) t.match(refused.body, { code: 'validation_failed', errors: { [field]: [String] } }, about)
  }
  t.match((await operator('GET', '/admin/v1/users')).body, { data: [{ id: 1 }], meta: { next_cursor: null } })
  t.equal((await operator('GET', '/admin/v1/users/2')).status, 404)
  t.equal((await operator('GET', '/admin/v1/users/x')).status, 404)
  t.equal((await operator('GET', '/admin/v1/countries/1')).status, 404)
  t.same(ledger.bugs, [])
})

test('many users at once, then page by page', async (t) => {
  const { operator, ledger } = await createTestApp(t, [usersSlice])
  const users = Array.from({ length: 1_000 }, (_, i) => ({ id: i + 11, name: `N${i}` }))
  const made = await operator('POST', '/admin/v1/users', { users }, { 'idempotency-key': 'first' })
  t.equal(made.status, 200)
  t.match(made.body, { data: users })
  const again = await operator('POST', '/admin/v1/users', { users }, { 'idempotency-key': 'first' })
  t.equal(again.text, made.text)
  t.equal(again.headers['idempotency-replayed'], 'true')

  const swap = await operator('POST', '/admin/v1/users', {
    users: [
      { id: 11, uid: 'u12' },
      { id: 12, uid: 'u11' },
    ],
  })
  t.match(swap.body, { data: [{ uid: 'u12' }, { uid: 'u11' }] })
  await operator('PUT', '/admin/v1/users/5', {})

  const seen: unknown[] = []
  let cursor = ''
  for (let pages = 0; pages < 20; pages += 1) {
    const page: { data?: { id: number }[]; meta?: { next_cursor: string | null } } = Object(
      (await operator('GET', `/admin/v1/users?limit=200&cursor=${cursor}`)).body,
    )
    seen.push(...(page.data ?? []).map(({ id }) => id))
    if (typeof page.meta?.next_cursor !== 'string') break
    cursor = page.meta.next_cursor
  }
  t.same(seen, [5, ...users.map(({ id }) => id).toReversed()])
  t.equal((await operator('GET', '/admin/v1/users?cursor=MTIz')).status, 422, 'a cursor of another list')
  t.same(ledger.bugs, [])
})

test('uids are unique when requests arrive together', async (t) => {
  const { operator, ledger } = await createTestApp(t, [usersSlice])
  // Each is decided on the effects of those before it, in whatever order they arrive.
  const all = await Promise.all([1, 2, 3].map((id) => operator('PUT', `/admin/v1/users/${id}`, { uid: 'star' })))
  t.equal(all.filter(({ status }) => status === 200).length, 1)
  t.equal(all.filter(({ status }) => status === 422).length, 2)
  const winner = 1 + all.findIndex(({ status }) => status === 200)
  t.equal((await operator('PUT', `/admin/v1/users/${winner}`, { uid: 'moon' })).status, 200)
  const given = await Promise.all([4, 5].map((id) => operator('PUT', `/admin/v1/users/${id}`, { uid: 'star' })))
  t.same(new Set(given.map(({ status }) => status)), new Set([200, 422]), 'a uid that is given up can be taken')
  t.same(ledger.bugs, [])
  t.same(ledger.failures, [])
})

test('revoked sessions expire immediately', async (t) => {
  const { operator, user, ledger } = await createTestApp(t, [usersSlice, roomsSlice])
  await operator('PUT', '/admin/v1/users/7', {})
  const before = user(7, 10)
  t.equal((await before('GET', '/v1/rooms/1')).status, 404)
  const revoked = await operator('POST', '/admin/v1/users/7/revoke-sessions')
  t.equal(revoked.status, 200)
  t.match(revoked.body, { data: { id: 7, sessions_revoked_before: /\.000000Z$/ } })
  t.equal((await before('GET', '/v1/rooms/1')).status, 440)
  t.equal((await user(7)('GET', '/v1/rooms/1')).status, 404, 'a token of this second stays valid')
  t.same(ledger.bugs, [])
})

test('the response to a long list of users stays below 1 MiB', async (t) => {
  const { operator, database } = await createTestApp(t, [usersSlice])
  const ids = Array.from({ length: 1_000 }, (_, i) => ({ id: i + 1 }))
  const avatar = '€'.repeat(250)
  for (const half of [ids.slice(0, 500), ids.slice(500)]) {
    const made = await operator('POST', '/admin/v1/users', { users: half.map(({ id }) => ({ id, avatar })) })
    t.same(
      Object(made.body).data.map(({ id }: { id: number }) => ({ id })),
      half,
    )
  }
  const key = { 'idempotency-key': 'all' }
  const all = await operator('POST', '/admin/v1/users', { users: ids.map(({ id }) => ({ id, name: 'A' })) }, key)
  t.equal(all.status, 200)
  t.ok(Buffer.byteLength(all.text) < 1_048_576, `${Buffer.byteLength(all.text)} bytes`)
  const answered = Object(all.body).data.map(({ id }: { id: number }) => ({ id }))
  t.ok(answered.length > 500)
  t.same(answered, ids.slice(0, answered.length), 'the first of them, in order')
  t.match(await queryRows(database, `select count(*)::int as named from user_profiles where name = 'A'`), [
    { named: '1000' },
  ])
})

test('countries are created, renamed and paged', async (t) => {
  const { operator, database, ledger } = await createTestApp(t, [usersSlice])
  const made = await operator('PUT', '/admin/v1/countries/20', { name: 'Egypt' })
  t.equal(made.status, 200)
  t.match(made.body, { data: { id: 20, name: 'Egypt', created_at: instant } })
  t.same((await operator('GET', '/admin/v1/countries/20')).body, made.body)
  await operator('PUT', '/admin/v1/countries/10', { name: 'Jordan' })
  const first = await operator('GET', '/admin/v1/countries?limit=1')
  t.match(first.body, { data: [{ id: 10 }], meta: { next_cursor: String } })
  const { next_cursor } = Object(Object(first.body).meta)
  t.match((await operator('GET', `/admin/v1/countries?limit=1&cursor=${next_cursor}`)).body, {
    data: [{ id: 20 }],
    meta: { next_cursor: null },
  })
  t.match(await queryRows(database, 'select updated_by from countries'), [{ updated_by: 'staff:ann' }, {}])
  t.same(await queryRows(database, 'select 1 from ledger_events'), [], 'words alone')
  t.same(ledger.bugs, [])
})
