import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { instant } from '../answers.ts'
import { tablesWith } from '../tables-with.ts'

const token = 'fcm:APA91b-a_token/with+every=kind%of;sign'
const path = `/api/v1/devices/${encodeURIComponent(token)}`

test('devices', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3, 4].map((id) => ({ id })) })
  const devices = () => queryRows(database, 'select token, user_id, platform from devices')

  await t.test('a push token belongs to the user who registered it last', async (t) => {
    const made = await user(1)('POST', '/api/v1/devices', { token, platform: 'android', user_id: 2 })
    t.match(made, { status: 201, body: { data: { platform: 'android', created_at: instant } } })
    t.same(await devices(), [{ token, user_id: '1', platform: 'android' }])
    t.match(await user(1)('POST', '/v1/devices/', { token, platform: 'ios' }), { status: 201 })
    t.same(await devices(), [{ token, user_id: '1', platform: 'ios' }], 'again')
    t.match(await user(2)('POST', '/v1/devices', { token, platform: 'android' }), { status: 201 })
    t.same(await devices(), [{ token, user_id: '2', platform: 'android' }])

    t.match(await user(1)('DELETE', path), { status: 404, body: { code: 'not_found' } }, 'no longer theirs')
    t.match(await user(2)('DELETE', path), { status: 200, body: { meta: { message: String } } })
    t.match(await user(2)('DELETE', path), { status: 404 })
    t.same(await devices(), [])
  })

  await t.test('malformed devices are refused', async (t) => {
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
    t.same(await devices(), [])
    const longest = { token: 'x'.repeat(2_048), platform: 'ios' }
    t.match(await user(1)('POST', '/api/v1/devices', longest), { status: 201 })
    t.match(await user(1)('DELETE', `/api/v1/devices/${longest.token}`), { status: 200 })
  })

  await t.test('a push token is stored in its own table and nowhere else', async (t) => {
    const key = { 'idempotency-key': 'one' }
    const ask = user(1)
    const first = await ask('POST', '/api/v1/devices', { token, platform: 'ios' }, key)
    t.same(await tablesWith(database, 'APA91b'), { devices: 1 })
    const again = await ask('POST', '/v1/devices', { platform: 'ios', token }, key)
    t.match(again, { status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
    t.match(await ask('POST', '/v1/devices', { token: 'other', platform: 'ios' }, key), {
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
    await ask('DELETE', path, undefined, { 'idempotency-key': 'two' })
    const gone = await ask('DELETE', path, undefined, { 'idempotency-key': 'two' })
    t.match(gone, { status: 200, headers: { 'idempotency-replayed': 'true' } })
    t.same(await tablesWith(database, 'APA91b'), {})
    t.same(await queryRows(database, `select type from ledger where type <> 'user-defined'`), [])
  })

  await t.test('a user has at most 20 devices: one more removes the one that was registered first', async (t) => {
    const register = (id: number, name: string) => user(id)('POST', '/v1/devices', { token: name, platform: 'ios' })
    const tokensOf = async (id: number) => {
      const rows = await queryRows(database, `select token from devices where user_id = ${id} order by registered_at`)
      return rows.map((row) => row['token'])
    }
    const names = Array.from({ length: 20 }, (_, i) => `device-${i}`)
    await register(4, 'of-another')
    for (const name of names) await register(3, name)
    t.same(await tokensOf(3), names)
    await register(3, 'device-0')
    await register(3, 'device-20')
    t.same(await tokensOf(3), [...names.slice(2), 'device-0', 'device-20'], 'device-0 was registered again')
    await register(4, 'device-20')
    await register(3, 'device-21')
    const left = [...names.slice(2), 'device-0', 'device-21']
    t.same(await tokensOf(3), left, 'one that moved to another user does not count')
    t.same(await tokensOf(4), ['of-another', 'device-20'])

    const many = Array.from({ length: 30 }, (_, i) => `at-once-${i}`)
    await Promise.all(many.flatMap((name) => [register(3, name), user(3)('DELETE', '/v1/devices/at-once-7')]))
    const kept = await tokensOf(3)
    t.ok(kept.length === 20 || kept.length === 19, `${kept.length} devices`)
    t.ok(kept.every((name) => name?.startsWith('at-once')))
    t.same(await tokensOf(4), ['of-another', 'device-20'])
  })
  t.same([...ledger.bugs, ...ledger.failures], [])
})
