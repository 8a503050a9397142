import type { InjectOptions } from 'fastify'
import { test } from 'tap'
import { createTestApp, type TestApp } from '../../harness/app/test-app.ts'
import { fetchRoutes, pathOf } from '../../harness/http/api-routes.ts'
import { listen } from '../../harness/http/raw-http.ts'
import { until } from '../../harness/until.ts'

type Test = Parameters<typeof createTestApp>[0]

const STORE = 'https://store.test/app'
const title = { en: 'New', ar: 'جديد' }
const message = { en: 'Please update.', ar: 'حدّث من فضلك.' }
const maintained = { title: { en: 'Closed', ar: 'مغلق' }, message: { en: 'Soon.', ar: 'قريبًا.' } }

const noUpdate = { status: 'success', type: 'none', data: {} }
const update = (is_force: boolean, language: 'en' | 'ar' = 'en', version = '2.1') => ({
  status: 'success',
  type: 'update',
  data: { is_force, version, store_link: STORE, title: title[language], message: message[language] },
})
const maintenance = (language: 'en' | 'ar' = 'en') => ({
  status: 'success',
  type: 'maintenance',
  data: { title: maintained.title[language], message: maintained.message[language] },
})

interface GateSetup extends TestApp {
  /** Sends a request with only these headers; returns status and body. */
  readonly ask: (url: string, headers?: Record<string, string>, options?: InjectOptions) => Promise<unknown[]>
  readonly bearer: (claims: object) => { authorization: string }
  readonly set: (path: string, body?: unknown) => Promise<void>
  /** Android has release 2.1 and minimum 1.5, ios release 3 and no minimum, flutter none; no mode is on. */
  readonly reset: () => Promise<void>
}

/** Users 1 to 4. */
async function gateSetup(t: Test): Promise<GateSetup> {
  const open = await createTestApp(t)
  const { app, operator } = open
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3, 4].map((id) => ({ id })) })
  const set: GateSetup['set'] = async (path, body) => {
    const { status, text } = await operator('PUT', `/admin/v1${path}`, body)
    if (status !== 200) throw new Error(text)
  }
  const words = { store_link: STORE, title, message }
  const reset = async (): Promise<void> => {
    await set('/releases/android', { version: '2.1', minimum_version: '1.5', ...words })
    await set('/releases/ios', { version: '3', minimum_version: null, ...words })
    await set('/app-mode', { ...maintained, maintenance: false, block_unidentified: null })
  }
  await reset()
  return {
    ...open,
    set,
    reset,
    ask: async (url, headers = {}, options = {}) => {
      const response = await app.inject({ url, headers, ...options })
      return [response.statusCode, response.json()]
    },
    bearer: (claims) => ({ authorization: `Bearer ${app.jwt.sign({ sub: '1', ...claims }, { expiresIn: '1h' })}` }),
  }
}

test('modes and releases', async (t) => {
  const { ask, set, reset, bearer, app, operator, database } = await gateSetup(t)

  await t.test('app-status: every case, in headers and in the query', async (t) => {
    const rows: readonly (readonly [
      type: string | null,
      version: string | null,
      language: string | null,
      body: object,
    ])[] = [
      [null, null, null, noUpdate],
      [null, '0.1', null, noUpdate],
      ['windows', '0.1', null, noUpdate],
      ['android,ios', '0.1', null, noUpdate],
      ['flutter', '0.1', null, noUpdate],
      ['android', null, null, update(true)],
      ['android', 'one', null, update(true)],
      ['android', '1.4.99', null, update(true)],
      ['android', '1.5', null, update(false)],
      ['android', '2.1-beta', null, update(false)],
      ['android', '2.1', null, noUpdate],
      ['android', '\u200f٢.١٠ (٤)', null, noUpdate],
      ['android', '1.5\u00a0(4)', null, update(false)],
      ['Android', '1.0', null, update(true)],
      ['ios', null, null, update(false, 'en', '3')],
      ['ios', '2.9', 'ar', update(false, 'ar', '3')],
      ['ios', '3.0.0', 'ar', noUpdate],
      ['android', '1', 'fr, ar;q=0.5, en;q=0.4', update(true, 'ar')],
      ['android', '1', 'fr', update(true, 'en')],
    ]
    for (const [type, version, language, body] of rows) {
      const given = Object.entries({ 'Client-Type': type, 'Client-Version': version, 'Accept-Language': language })
      const some = given.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]))
      const query = new URLSearchParams(some).toString()
      const name = JSON.stringify([type, version, language])
      // Node reads a header's bytes as Latin-1.
      const headers = some.map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as const)
      t.same(await ask('/api/v1/app-status', Object.fromEntries(headers)), [200, body], name)
      t.same(await ask(`/v1/app-status/?${query}`), [200, body], `${name}, in the query`)
    }
    const latin1 = { 'client-type': 'android', 'client-version': '2.1\u00a0(4)' }
    t.same(await ask('/v1/app-status', latin1), [200, noUpdate], 'a byte that is no UTF-8')
    const old = { 'client-type': 'android', 'client-version': '1' }
    t.same(await ask('/v1/app-status?lang=ar', { ...old, 'accept-language': 'en' }), [200, update(true, 'ar')])
    const plus = '/v1/app-status?client_type=android&client_version=1.6+3'
    t.same(await ask(plus), [200, update(false)], 'an unencoded plus')
    const twice = '/v1/app-status?Client-Type=android&Client-Type=ios&Client-Version=1'
    t.same(await ask(twice), [200, noUpdate], 'an unknown type')
    t.same(await ask('/v1/app-status?Client-Type=&Client-Version=', { 'client-type': '' }), [200, noUpdate])
    const odd = '/v1/app-status?lang=x&lang=y&limit=-1&__proto__=1&constructor=2'
    t.same(await ask(odd, { authorization: 'Bearer nonsense', 'client-version': '9'.repeat(5_000) }), [200, noUpdate])

    await set('/app-mode', { maintenance: true })
    for (const [type, version] of rows) {
      const headers = { ...(type && { 'client-type': type }), ...(version && { 'client-version': version }) }
      t.same(await ask('/v1/app-status', headers), [200, maintenance()], 'maintenance wins')
    }
    t.same(await ask('/v1/app-status', { 'accept-language': 'ar-SA' }), [200, maintenance('ar')])
    const { headers } = await app.inject('/api/v1/app-status')
    t.match(headers, { 'cache-control': 'no-store', 'content-type': /^application\/json/ })
  })

  await t.test('maintenance closes every client route before all other checks, and no other route', async (t) => {
    const expired = { authorization: `Bearer ${app.jwt.sign({ sub: '1', iat: 1_000 }, { expiresIn: '1s' })}` }
    const closed: readonly (readonly [string, Record<string, string>, InjectOptions?])[] = [
      ['/api/v1/wallet', {}],
      ['/v1/wallet/', { authorization: 'Bearer nonsense' }],
      ['/api/v1/wallet', expired],
      ['/v1/wallet', bearer({})],
      ['/v1/wallet', bearer({ role: 'operator' })],
      ['/v1/wallet', { ...bearer({}), 'client-type': 'android', 'client-version': '9' }],
      ['/api/v1/no/such/path', {}],
      ['/v1', {}],
      ['/api/v1/', {}],
      ['/api/v1/rooms/%zz', {}],
      ['/v1/rooms/%E0%A4%A', {}],
      ['/v1//wallet', {}],
      ['/%76%31/wallet', {}],
      ['/v1/app-status/more', {}],
      ['/v1/app-status', {}, { method: 'POST' }],
      ['/api/v1/instant-send', { 'content-type': 'application/json' }, { method: 'POST', payload: '{' }],
      ['/api/v1/instant-send', { 'content-type': 'text/plain' }, { method: 'POST', payload: 'x'.repeat(70_000) }],
      ['/v1/devices/x', {}, { method: 'DELETE' }],
      ['/v1/wallet', {}, { method: 'OPTIONS' }],
      ['/v1/wallet', {}, { method: 'TRACE' }],
    ]
    await set('/app-mode', { maintenance: true })
    for (const [url, headers, options] of closed) {
      t.same(await ask(url, headers, options), [503, maintenance()], `${options?.method ?? 'GET'} ${url}`)
    }
    t.same(await ask('/v1/wallet?lang=ar'), [503, maintenance('ar')])
    t.same(await ask('/v1/wallet/%zz?lang=ar'), [503, maintenance('ar')])
    t.same(await ask('/v1/wallet/%zz?x=%zz&lang=ar'), [503, maintenance('ar')])
    t.equal((await app.inject({ method: 'HEAD', url: '/v1/wallet' })).statusCode, 503)
    const origin = `http://127.0.0.1:${await listen(app)}`
    const wrong: string[] = []
    for (const route of await fetchRoutes(origin)) {
      const { status } = await fetch(`${origin}${pathOf(route, { room: '9' }, true)}`, { method: route.method })
      if ((status === 503) !== ['client', 'public'].includes(route.kind)) wrong.push(`${route.name} ${status}`)
    }
    t.same(wrong, [])

    const open =
      '/healthz /readyz /metrics /docs /docs/json /api/v1/app-status /v1/app-status/ / /assets/gifts/rose.svg'
    for (const url of open.split(' ')) t.equal((await app.inject(url)).statusCode, 200, url)
    t.match(await operator('GET', '/admin/v1/app-mode'), { status: 200, body: { data: { maintenance: true } } })
    t.equal((await ask('/admin/v1/nowhere'))[0], 401)
    t.equal((await ask('/nowhere'))[0], 404)
    t.equal((await app.inject('/console')).statusCode, 303)
    t.equal((await app.inject('/fairness')).statusCode, 200)
    await set('/app-mode', { maintenance: 0 })
    t.equal((await ask('/v1/wallet', bearer({})))[0], 200)
    t.equal((await ask('/v1/wallet', expired))[0], 440)
  })

  await t.test('unknown fields of a text do not change the request', async (t) => {
    const key = { 'idempotency-key': 'deep' }
    const first = await operator('PUT', '/admin/v1/app-mode', { title: { en: 'Closed', fr: 'Fermé' } }, key)
    t.match(first, { status: 200, body: { data: { title: { en: 'Closed' } } } })
    const again = await operator('PUT', '/admin/v1/app-mode', { title: { en: 'Closed' } }, key)
    t.same([again.headers['idempotency-replayed'], again.text], ['true', first.text], 'it is the same request')
  })

  await t.test('a forced update refuses those whose type is known and whose version is too old', async (t) => {
    const me = bearer({})
    const passes = async (headers: Record<string, string>, name: string) =>
      t.equal((await ask('/v1/wallet', { ...me, ...headers }))[0], 200, name)
    const android = (version: string) => ({ 'client-type': 'android', 'client-version': version })

    t.same(await ask('/v1/wallet', { ...me, ...android('1.4') }), [426, update(true)])
    t.same(await ask('/api/v1/nowhere', { ...android('1.4'), 'accept-language': 'ar' }), [426, update(true, 'ar')])
    t.same(await ask('/v1/wallet?Client-Type=android&Client-Version=1'), [426, update(true)])
    t.same(await ask('/v1/wallet', { 'client-type': 'android' }), [426, update(true)], 'no version')
    t.same(await ask('/v1/wallet', android('newest')), [426, update(true)], 'a malformed version')
    await passes(android('1.5'), 'at the minimum')
    await passes({ 'client-type': 'windows', 'client-version': '0.1' }, 'an unknown type')
    await passes({ 'client-version': '0.1' }, 'no type')
    await passes({ 'client-type': 'ios', 'client-version': '0.1' }, 'no minimum')
    await passes({ 'client-type': 'flutter', 'client-version': '0.1' }, 'no release')
    await passes({}, 'an unidentified client')

    await set('/app-mode', { block_unidentified: 'ios' })
    const iosUpdate = [426, update(true, 'en', '3')]
    t.same(await ask('/v1/wallet', me), iosUpdate, 'with a token without a stored client')
    t.same(await ask('/v1/wallet'), iosUpdate, 'without')
    t.same(await ask('/v1/wallet', { 'client-type': 'windows' }), iosUpdate)
    t.same(await ask('/v1/wallet', { 'client-version': '9' }), iosUpdate)
    t.same(await ask('/v1/app-status'), [200, noUpdate])
    await passes(android('1.5'), 'with hints of their own')
    await passes({ 'client-type': 'flutter' }, 'a type without a release')
    await operator('DELETE', '/admin/v1/releases/ios')
    await passes({}, 'a type without a release blocks no client')
    await set('/app-mode', { block_unidentified: null })

    await set('/releases/android', { minimum_version: null })
    await set('/app-mode', { block_unidentified: 'android' })
    t.equal((await ask('/v1/wallet', me))[0], 426, 'no release has a minimum')
    await set('/app-mode', { block_unidentified: null })
    await passes(android('0.1'), 'the minimum is gone')
    t.same(await ask('/v1/app-status', android('0.1')), [200, update(false)])
    await operator('DELETE', '/admin/v1/releases/android')
    t.same(await ask('/v1/app-status', android('0.1')), [200, noUpdate])
  })

  await t.test('what a token reported to app-status applies to its requests without hints', async (t) => {
    await reset()
    const [mine, other] = [bearer({}), bearer({ jti: 'another token of the same user' })]
    const expired = { authorization: `Bearer ${app.jwt.sign({ sub: '1', iat: 1_000 }, { expiresIn: '1s' })}` }
    const tell = (headers: Record<string, string>, version: string, type = 'android') =>
      ask('/v1/app-status', { ...headers, 'client-type': type, 'client-version': version })
    const status = async (headers: Record<string, string>) => (await ask('/v1/wallet', headers))[0]

    t.equal(await status(mine), 200)
    await tell(mine, '1.4')
    t.same(await ask('/v1/wallet', { ...mine, 'accept-language': 'ar' }), [426, update(true, 'ar')])
    t.equal(await status(other), 426, 'another token of the user, for which nothing is stored')
    t.equal(await status(bearer({ sub: '2' })), 200, 'of another user')
    const hints = { ...mine, 'client-type': 'android', 'client-version': '2' }
    t.equal(await status(hints), 200, 'its own hints take precedence')
    await ask('/v1/app-status', mine)
    t.equal(await status(mine), 426, 'a request without hints deletes nothing')
    await tell(mine, '1.6')
    t.equal(await status(mine), 200)
    await tell(mine, '0.1', 'windows')
    t.equal(await status(mine), 200)
    await tell(mine, 'nonsense')
    t.equal(await status(mine), 426)
    await tell(expired, '1')
    t.equal(await status(expired), 426, 'not 440: it must keep its token')
    await tell({ authorization: 'Bearer forged' }, '1')
    t.equal(await status({ authorization: 'Bearer forged' }), 401, 'nothing is stored for forged tokens')

    await set('/app-mode', { block_unidentified: 'android' })
    t.equal(await status(other), 426)
    await tell(other, '2.1')
    t.equal(await status(other), 200)
    t.equal(await status({ authorization: 'Bearer forged' }), 426)

    // Another instance reads it from the database.
    const second = await createTestApp(t, { database })
    const there = async (headers: Record<string, string>) =>
      (await second.app.inject({ url: '/v1/wallet', headers })).statusCode
    await until(async () => (await there(mine)) === 426)
    t.equal(await there(bearer({ jti: 'a third one' })), 200, 'what is stored for the user')
    // Each is read at its first request, which a busy database may be too late for.
    await until(async () => (await there(expired)) === 426)
    t.same([await there(mine), await there(other)], [426, 200])
  })

  await t.test('a type without a version is judged by the version that is stored', async (t) => {
    await reset()
    const tell = (headers: Record<string, string>, version: string) =>
      ask('/v1/app-status', { ...headers, 'client-type': 'android', 'client-version': version })
    const android = { 'client-type': 'android' }
    const status = async (headers: Record<string, string>) => (await ask('/v1/wallet', { ...headers, ...android }))[0]
    const [mine = {}, other = {}, stranger = {}] = [3, 3, 4].map((id, i) =>
      bearer({ sub: String(id), jti: `token ${i}` }),
    )

    t.equal(await status(mine), 426, 'nothing is stored')
    await tell(mine, '1.6')
    t.equal(await status(mine), 200)
    t.equal(await status(other), 200, 'by what its user showed with another token')
    await tell(other, '1.4')
    t.equal(await status(other), 426)
    t.equal(await status(mine), 200, 'its own word counts first')
    t.equal(await status(stranger), 426)
    t.equal((await ask('/v1/wallet', android))[0], 426, 'without a token')
    const ios = { ...other, 'client-type': 'ios' }
    t.equal((await ask('/v1/wallet', ios))[0], 200, 'no minimum for its type')
    await set('/releases/ios', { minimum_version: '1.5' })
    t.equal((await ask('/v1/wallet', ios))[0], 426)
    const shown = { ...mine, ...android, 'client-version': '1.4' }
    t.equal((await ask('/v1/wallet', shown))[0], 426, 'a version that is shown')
  })
})
