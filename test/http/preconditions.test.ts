import { test } from 'tap'
import { agencyApp, cash, dataOf, requests } from '../features/agency/agency-fixture.ts'
import { createTestApp } from '../harness/app/test-app.ts'

const NOTHING = { 'if-none-match': '*' }

/** Each with two definitions, either of which is whole. */
const resources: readonly (readonly [path: string, one: object, other: object])[] = [
  ['/decorations/1', { name: 'Rose', kind: 'standard', price: 1 }, { name: 'Lily', kind: 'standard', price: 2 }],
  ['/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 1 }, { name: 'Silver', rank: 2, valid_days: 2 }],
  ['/countries/1', { name: 'Iraq' }, { name: { en: 'Iraq', ar: 'العراق' } }],
  ['/releases/ios', { version: '1.0', store_link: 'https://a.test' }, { version: '2.0', store_link: 'https://b.test' }],
  ['/users/1', { charging_agent: 1, business_manager: 0 }, { charging_agent: 0, business_manager: 1 }],
]

test('what a write expects to be stored', async (t) => {
  const { operator } = await createTestApp(t)
  const read = async (path: string) => {
    const { headers, body } = await operator('GET', `/admin/v1${path}`)
    return { etag: String(headers['etag']), data: Object(body).data }
  }

  for (const [path, one, other] of resources) {
    await t.test(path, async (t) => {
      const put = (body: object, headers: Readonly<Record<string, string>>) =>
        operator('PUT', `/admin/v1${path}`, body, headers)
      const missing = await put(one, { 'if-match': `"${'0'.repeat(64)}"` })
      t.match(missing, { status: 412, body: { code: 'precondition_failed' } }, 'there is nothing to change')

      const [first, second] = await Promise.all([
        put(one, { ...NOTHING, 'idempotency-key': `${path} one` }),
        put(other, { ...NOTHING, 'idempotency-key': `${path} other` }),
      ])
      t.same(
        [first.status, second.status].toSorted((a, b) => a - b),
        [200, 412],
        'only one of two creates it',
      )
      const created = await read(path)
      t.match(created.etag, /^"[0-9a-f]{64}"$/)
      t.same(created.data, Object((first.status === 200 ? first : second).body).data)
      const again = await put(one, { ...NOTHING, 'idempotency-key': `${path} one` })
      t.same([again.status, again.text], [first.status, first.text], 'a retry is answered as before')

      const [winner, loser] = first.status === 200 ? [one, other] : [other, one]
      t.equal((await put(loser, { 'if-match': created.etag })).status, 200)
      t.equal((await put(winner, { 'if-match': created.etag })).status, 412, 'it has another version now')
      t.not((await read(path)).etag, created.etag)
      t.equal((await put(winner, {})).status, 200, 'whatever is stored')
      t.equal((await read(path)).etag, created.etag, 'the same values have the same version')
    })
  }

  await t.test('the mode of the app has a version before it was ever set', async (t) => {
    const { etag } = await read('/app-mode')
    const title = { en: 'Back soon' }
    t.equal((await operator('PUT', '/admin/v1/app-mode', { title }, NOTHING)).status, 412, 'there is always a mode')
    t.equal((await operator('PUT', '/admin/v1/app-mode', { title }, { 'if-match': etag })).status, 200)
    t.equal((await operator('PUT', '/admin/v1/app-mode', { title }, { 'if-match': etag })).status, 412)
  })

  await t.test('a release is removed as it was read, and not after a change', async (t) => {
    const path = '/admin/v1/releases/android'
    const remove = (etag: string, key: string) =>
      operator('DELETE', path, undefined, { 'if-match': etag, 'idempotency-key': key })
    await operator('PUT', path, { version: '1.0', store_link: 'https://a.test' })
    const first = await read('/releases/android')
    await operator('PUT', path, { version: '2.0' })
    t.match(await remove(first.etag, 'a'), { status: 412, body: { code: 'precondition_failed' } })
    const second = await read('/releases/android')
    t.equal((await remove(second.etag, 'b')).status, 200)
    t.equal((await remove(second.etag, 'b')).status, 200, 'a retry is answered as before')
    t.equal((await remove(second.etag, 'c')).status, 412, 'nothing is stored any more')
    t.equal((await operator('DELETE', path)).status, 404)
  })

  await t.test('other forms of the headers are refused, not ignored', async (t) => {
    const put = (headers: Readonly<Record<string, string>>) =>
      operator('PUT', '/admin/v1/countries/2', { name: 'Egypt' }, headers)
    const tag = `"${'0'.repeat(64)}"`
    for (const value of ['*', 'abc', '"abc"', `W/${tag}`, `${tag}, "${'1'.repeat(64)}"`, '']) {
      t.match(await put({ 'if-match': value }), { status: 422, body: { errors: { 'If-Match': [String] } } }, value)
    }
    for (const value of ['"abc"', '*, *', '']) {
      t.match(await put({ 'if-none-match': value }), { status: 422, body: { errors: { 'If-None-Match': [String] } } })
    }
    const both = await put({ ...NOTHING, 'if-match': tag })
    t.match(both, { status: 422, body: { errors: { 'If-None-Match': [String] } } })
    t.equal((await operator('GET', '/admin/v1/countries/2')).status, 404)
  })
})

test('a withdrawal is decided as it was read, and not after a change', async (t) => {
  const { user, operator } = await agencyApp(t)
  const made = await user(1)('POST', `${requests}/request`, cash)
  const path = `/admin/v1/withdrawals/${dataOf(made).id}`
  const read = await operator('GET', path)
  t.same(dataOf(read), dataOf(made))
  const etag = String(read.headers['etag'])
  const decide = (status: string, version: string, key: string) =>
    operator('POST', `${path}/status`, { status }, { 'if-match': version, 'idempotency-key': key })

  const first = await decide('approved', etag, 'one')
  t.equal(first.status, 200)
  t.match(await decide('rejected', etag, 'other'), { status: 412, body: { code: 'precondition_failed' } })
  const again = await decide('approved', etag, 'one')
  t.same([again.status, again.text], [first.status, first.text], 'a retry is answered as before')
  t.equal((await decide('pending', etag, 'third')).status, 412, 'before the change is judged')
  const { headers } = await operator('GET', path)
  t.not(headers['etag'], etag)
  const change = String(headers['etag'])
  const both = await Promise.all([decide('transferred', change, 'fourth'), decide('rejected', change, 'fifth')])
  const statuses = new Set(both.map(({ status }) => status))
  t.same(statuses, new Set([200, 412]), 'only one of two at once, whichever comes first')
  t.equal((await operator('POST', `${path}/status`, { status: 'rejected' })).status, 422, 'without a precondition')
  t.equal((await operator('GET', '/admin/v1/withdrawals/999999')).status, 404)
})
