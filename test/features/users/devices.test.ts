import { test } from 'tap'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const token = 'fcm:APA91b-a_token/with+every=kind%of;sign'
const path = `/api/v1/devices/${encodeURIComponent(token)}`

test('a push token belongs to the user who registered it last', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t, [usersSlice])
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  const devices = () => queryRows(database, 'select token, user_id, platform from devices')

  const made = await user(1)('POST', '/api/v1/devices', { token, platform: 'android', user_id: 2 })
  t.match(made, {
    status: 201,
    body: { data: { platform: 'android', created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/ } },
  })
  t.same(await devices(), [{ token, user_id: '1', platform: 'android' }])
  t.match(await user(1)('POST', '/v1/devices/', { token, platform: 'ios' }), { status: 201 })
  t.same(await devices(), [{ token, user_id: '1', platform: 'ios' }], 'again')
  t.match(await user(2)('POST', '/v1/devices', { token, platform: 'android' }), { status: 201 })
  t.same(await devices(), [{ token, user_id: '2', platform: 'android' }])

  t.match(await user(1)('DELETE', path), { status: 404, body: { code: 'not_found' } }, 'no longer theirs')
  t.match(await user(2)('DELETE', path), { status: 200, body: { meta: { message: String } } })
  t.match(await user(2)('DELETE', path), { status: 404 })
  t.same(await devices(), [])
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('a user has at most 20 devices: one more removes the one that was registered first', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t, [usersSlice])
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  const register = (id: number, name: string) => user(id)('POST', '/v1/devices', { token: name, platform: 'ios' })
  const tokensOf = async (id: number) => {
    const rows = await queryRows(database, `select token from devices where user_id = ${id} order by registered_at`)
    return rows.map((row) => row['token'])
  }
  const names = Array.from({ length: 20 }, (_, i) => `device-${i}`)
  await register(2, 'of-another')
  for (const name of names) await register(1, name)
  t.same(await tokensOf(1), names)
  await register(1, 'device-0')
  await register(1, 'device-20')
  t.same(await tokensOf(1), [...names.slice(2), 'device-0', 'device-20'], 'device-0 was registered again')
  await register(2, 'device-20')
  await register(1, 'device-21')
  t.same(
    await tokensOf(1),
    [...names.slice(2), 'device-0', 'device-21'],
    'one that moved to another user does not count',
  )
  t.same(await tokensOf(2), ['of-another', 'device-20'])

  const many = Array.from({ length: 30 }, (_, i) => `at-once-${i}`)
  await Promise.all(many.flatMap((name) => [register(1, name), user(1)('DELETE', '/v1/devices/at-once-7')]))
  const left = await tokensOf(1)
  t.ok(left.length === 20 || left.length === 19, `${left.length} devices`)
  t.ok(left.every((name) => name?.startsWith('at-once')))
  t.same(await tokensOf(2), ['of-another', 'device-20'])
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('malformed devices are refused', async (t) => {
  const { operator, user, database } = await createTestApp(t, [usersSlice])
  await operator('PUT', '/admin/v1/users/1', {})
  const rows: readonly (readonly [object, readonly string[]])[] = [
    [{}, ['platform', 'token']],
    [{ token: '', platform: 'android' }, ['token']],
    [{ token: 'with a blank', platform: 'android' }, ['token']],
    [{ token: 'ü', platform: 'android' }, ['token']],
    [{ token: 'x'.repeat(2_049), platform: 'android' }, ['token']],
    [{ token: 7, platform: 'android' }, ['token']],
    [{ token: 'x', platform: 'Android' }, ['platform']],
    [{ token: 'x', platform: null }, ['platform']],
  ]
  for (const [body, fields] of rows) {
    const response = await user(1)('POST', '/api/v1/devices', body)
    t.match(response, { status: 422, body: { code: 'validation_failed' } })
    t.same(Object.keys(Object(response.body).errors).sort(), fields)
  }
  t.match(await user(1)('DELETE', '/api/v1/devices/with%20a%20blank'), { status: 404 })
  t.same(await queryRows(database, 'select 1 from devices'), [])
  const longest = { token: 'x'.repeat(2_048), platform: 'ios' }
  t.match(await user(1)('POST', '/api/v1/devices', longest), { status: 201 })
  t.match(await user(1)('DELETE', `/api/v1/devices/${longest.token}`), { status: 200 })
})

test('a push token is stored in its own table and nowhere else', async (t) => {
  const { operator, user, database } = await createTestApp(t, [usersSlice])
  await operator('PUT', '/admin/v1/users/1', {})
  const key = { 'idempotency-key': 'one' }
  const ask = user(1)
  const first = await ask('POST', '/api/v1/devices', { token, platform: 'ios' }, key)
  const again = await ask('POST', '/v1/devices', { platform: 'ios', token }, key)
  t.match(again, { status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
  t.match(await ask('POST', '/v1/devices', { token: 'other', platform: 'ios' }, key), {
    status: 422,
    body: { code: 'idempotency_key_reused' },
  })
  await ask('DELETE', path, undefined, { 'idempotency-key': 'two' })
  const gone = await ask('DELETE', path, undefined, { 'idempotency-key': 'two' })
  t.match(gone, { status: 200, headers: { 'idempotency-replayed': 'true' } })
  const tables = await queryRows(
    database,
    `select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  )
  for (const { relname } of tables) {
    t.same(await queryRows(database, `select 1 from ${relname} r where r::text like '%APA91b%'`), [], relname ?? '')
  }
  t.same(await queryRows(database, `select type from ledger_events where type <> 'user-defined'`), [])
})
