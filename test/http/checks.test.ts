import { createHmac, generateKeyPairSync, type KeyObject, sign as signWith } from 'node:crypto'
import { mock } from 'node:test'
import { test } from 'tap'
import type { JwtKey } from '../../src/config/credentials.ts'
import type { AppStateGate } from '../../src/http/auth/gate.ts'
import { Sessions } from '../../src/http/auth/sessions.ts'
import { AddressLimit } from '../../src/http/limits/address-limit.ts'
import { bearer, createMinimalApp, token, validClaims } from '../harness/app/minimal-app.ts'
import { encodeToken, nowSeconds } from '../harness/http/tokens.ts'

const closed: AppStateGate = () => ({
  status: 503,
  body: { status: 'success', type: 'maintenance', data: { title: 'Closed', message: '' } },
})

test('the order of checks: app state, token, address, rate limit, schema, then the route', async (t) => {
  let gate: AppStateGate = closed
  const limits = { rateLimit: 1, addressLimit: new AddressLimit(2) }
  const { app } = await createMinimalApp(t, { gate: (...asked) => gate(...asked), ...limits })
  const wrong = { method: 'POST', url: '/v1/things', payload: '{"count":"1"}' } as const
  const json = { 'content-type': 'application/json' }
  const mine = { ...bearer(token()), ...json }
  for (let i = 0; i < 3; i += 1) t.equal((await app.inject({ ...wrong, headers: json })).statusCode, 503)
  gate = () => undefined
  t.equal((await app.inject({ ...wrong, headers: json })).statusCode, 401)
  t.equal((await app.inject({ ...wrong, headers: mine })).statusCode, 422)
  t.equal((await app.inject({ ...wrong, headers: mine })).statusCode, 429, 'the faulty request was counted')
  t.equal((await app.inject({ ...wrong, headers: json })).statusCode, 401, 'what the gate refused was not counted')
  t.equal((await app.inject({ ...wrong, headers: json })).statusCode, 429)
  const other = { ...bearer(token({ sub: '8' })), ...json }
  t.equal((await app.inject({ url: '/v1/mishaps/http', headers: other })).statusCode, 403)
})

test('each caller may send a number of requests a minute', async (t) => {
  const { app } = await createMinimalApp(t, { rateLimit: 2 })
  const ask = (claims: object, url: string) => app.inject({ url, headers: bearer(token({ ...claims })) })
  t.equal((await ask({}, '/v1/things')).statusCode, 200)
  t.equal((await ask({ jti: 'another token of the same user' }, '/v1/nowhere')).statusCode, 404)
  const response = await ask({}, '/api/v1/things')
  t.equal(response.statusCode, 429)
  t.match(response.json(), { code: 'rate_limited', message: String, request_id: response.headers['x-request-id'] })
  const wait = Number(response.headers['retry-after'])
  t.ok(wait >= 1 && wait <= 60, `Retry-After: ${wait}`)

  t.equal((await ask({ sub: '8' }, '/v1/things')).statusCode, 200, 'another user')
  const staff = { sub: '7', role: 'operator' }
  for (const expected of [200, 200, 429]) t.equal((await ask(staff, '/admin/v1/things')).statusCode, expected)
  for (let i = 0; i < 4; i += 1) {
    for (const url of ['/healthz', '/metrics', '/docs/json']) {
      const { statusCode, headers } = await app.inject({ url, headers: bearer(token()) })
      t.equal(statusCode, 200, url)
      t.notOk(headers['retry-after'])
    }
  }
})

const now = nowSeconds()
const rs = generateKeyPairSync('rsa', { modulusLength: 2048 })
const none = encodeToken({ alg: 'none' }, validClaims(), () => '')
const signed = (alg: string, sign: (text: string) => Buffer) =>
  encodeToken({ alg }, validClaims(), (text) => sign(text).toString('base64url'))
const rsa = (text: string) => signWith('sha256', Buffer.from(text), rs.privateKey)
const tampered = (text: string) => {
  const [header, , signature] = text.split('.')
  return `${header}.${Buffer.from(JSON.stringify({ ...validClaims(), sub: '8' })).toString('base64url')}.${signature}`
}

/** The same bytes: the last of 43 letters has two bits that count for nothing. */
const respelled = (text: string): string => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return text.slice(0, -1) + letters[letters.indexOf(text.at(-1) ?? '') ^ 1]
}

/** Authorization of a request to a client route, the status it gets and why. */
const tokens = (now: number): readonly (readonly [string, string | undefined, number])[] => [
  ['no token', undefined, 401],
  ['an empty header', '', 401],
  ['another scheme', `Basic ${token()}`, 401],
  ['no scheme', token(), 401],
  ['no token after the scheme', 'Bearer ', 401],
  ['two tokens', `Bearer ${token()} ${token()}`, 401],
  ['a valid token', `Bearer ${token()}`, 200],
  ['a scheme in lower case', `bearer ${token()}`, 200],
  ['a scheme in capitals', `BEARER  ${token()}`, 200],
  ['sub as a number', `Bearer ${token({ sub: 7 })}`, 200],
  ['8 KiB of a token', `Bearer ${token({ more: 'x'.repeat(6000) })}`, 200],
  ['8 KiB of nonsense', `Bearer ${'x'.repeat(8192)}`, 401],
  ['nonsense', 'Bearer a.b.c', 401],
  ['two parts', 'Bearer a.b', 401],
  ['algorithm none', `Bearer ${none}`, 401],
  ['algorithm none with a signature', `Bearer ${none}x`, 401],
  ['another HMAC', `Bearer ${signed('HS512', (text) => createHmac('sha512', 'x').update(text).digest())}`, 401],
  ['an RSA signature', `Bearer ${signed('RS256', rsa)}`, 401],
  ['another key', `Bearer ${token({}, 'another secret')}`, 401],
  ['another payload', `Bearer ${tampered(token())}`, 401],
  ['its last letter with another unused bit', `Bearer ${respelled(token())}`, 401],
  ['padding', `Bearer ${token()}=`, 401],
  ['another key and expired', `Bearer ${token({ exp: now - 10 }, 'another secret')}`, 401],
  ['no sub', `Bearer ${token({ sub: undefined })}`, 401],
  ['no exp', `Bearer ${token({ exp: undefined })}`, 401],
  ['no iat', `Bearer ${token({ iat: undefined })}`, 401],
  ['exp as text', `Bearer ${token({ exp: String(now + 600) })}`, 401],
  ['iat as text', `Bearer ${token({ iat: String(now) })}`, 401],
  ['exp far in the past', `Bearer ${token({ exp: -1e300 })}`, 401],
  ['exp never', `Bearer ${token({ exp: 1e300 })}`, 200],
  ['issued by a clock that is 4 s ahead', `Bearer ${token({ iat: now + 4 })}`, 200],
  ['issued by a clock that is an hour ahead', `Bearer ${token({ iat: now + 3_600, exp: now + 7_200 })}`, 401],
  ['not yet valid', `Bearer ${token({ nbf: now + 3_600, exp: now + 7_200 })}`, 401],
  ['expired', `Bearer ${token({ exp: now - 1 })}`, 440],
  ['sub 0', `Bearer ${token({ sub: '0' })}`, 401],
  ['a leading zero', `Bearer ${token({ sub: '07' })}`, 401],
  ['a sign', `Bearer ${token({ sub: '-7' })}`, 401],
  ['a fraction', `Bearer ${token({ sub: 7.5 })}`, 401],
  ['beyond 2^53-1', `Bearer ${token({ sub: '9007199254740993' })}`, 401],
  ['a name', `Bearer ${token({ sub: 'amina' })}`, 401],
  ['a list', `Bearer ${token({ sub: ['7'] })}`, 401],
  ['an unknown user', `Bearer ${token({ sub: '100' })}`, 401],
  ['issued before the sessions were revoked', `Bearer ${token({ sub: '9', iat: now - 120 })}`, 440],
  ['issued after the sessions were revoked', `Bearer ${token({ sub: '9' })}`, 200],
  ['an operator', `Bearer ${token({ sub: 'ann', role: 'operator' })}`, 403],
  ['finance', `Bearer ${token({ sub: 'fin', role: 'finance' })}`, 403],
  ['an unknown role', `Bearer ${token({ role: 'king' })}`, 403],
  ['an empty role', `Bearer ${token({ role: '' })}`, 403],
  ['a null role', `Bearer ${token({ role: null })}`, 403],
  ['an expired operator', `Bearer ${token({ sub: 'ann', role: 'operator', exp: now - 1 })}`, 440],
]

test('tokens on client routes', async (t) => {
  const { app } = await createMinimalApp(t)
  const codes = new Map([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [440, 'session_expired'],
  ])
  const rows = tokens(nowSeconds())
  // Twice: the second time the token comes from the cache.
  for (const round of [1, 2]) {
    for (const [name, authorization, status] of rows) {
      const headers = authorization === undefined ? {} : { authorization }
      const response = await app.inject({ url: '/v1/things', headers })
      t.equal(response.statusCode, status, `${name}, ${round}`)
      t.equal(response.json().code, name === 'an unknown user' ? 'unknown_user' : codes.get(status), name)
      t.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined, name)
    }
  }
  const { caller } = (await app.inject({ url: '/v1/things', headers: bearer(token()) })).json()
  t.same(caller, { kind: 'user', id: 7 })
})

test('the issuer’s clock may be at most five seconds ahead', async (t) => {
  const { app } = await createMinimalApp(t)
  mock.timers.enable({ apis: ['Date'], now: now * 1_000 })
  t.teardown(() => mock.timers.reset())
  for (const [ahead, status] of [
    [5, 200],
    [6, 401],
  ] as const) {
    const headers = bearer(token({ iat: now + ahead }))
    t.equal((await app.inject({ url: '/v1/things', headers })).statusCode, status, `${ahead} s`)
  }
})

test('a cached token still expires and can be revoked', async (t) => {
  let revoked = 0
  const sessions = new Sessions(async () => revoked)
  const { app } = await createMinimalApp(t, { sessions })
  mock.timers.enable({ apis: ['Date'], now: now * 1_000 })
  t.teardown(() => mock.timers.reset())
  const statusFor = async (text: string) => (await app.inject({ url: '/v1/things', headers: bearer(text) })).statusCode
  const short = token({ exp: now + 60 })
  t.same([await statusFor(short), await statusFor(short)], [200, 200])
  mock.timers.tick(61_000)
  t.same([await statusFor(short), await statusFor(short)], [440, 440], 'after it has expired')
  const other = token()
  t.equal(await statusFor(other), 200)
  revoked = validClaims().iat + 1
  sessions.invalidate(7)
  t.equal(await statusFor(other), 440, 'revoked')
  t.equal(await statusFor(`${other}x`), 401, 'another one')
})

test('a token must have the configured audience and issuer, and not be valid for too long', async (t) => {
  const tokenRules = { audience: 'economy', issuer: 'https://id.example', maxTtlSeconds: 3_600 }
  const { app } = await createMinimalApp(t, { tokenRules })
  const ours = { aud: 'economy', iss: 'https://id.example' }
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, number])[] = [
    ['ours', ours, 200],
    ['one of several audiences', { ...ours, aud: ['other', 'economy'] }, 200],
    ['another audience', { ...ours, aud: 'other' }, 401],
    ['other audiences', { ...ours, aud: ['other'] }, 401],
    ['a part of the audience', { ...ours, aud: 'econom' }, 401],
    ['no audience', { iss: ours.iss }, 401],
    ['another issuer', { ...ours, iss: 'https://id.example/' }, 401],
    ['no issuer', { aud: ours.aud }, 401],
    ['the longest validity', { ...ours, iat: now, exp: now + 3_600 }, 200],
    ['too long', { ...ours, iat: now, exp: now + 3_601 }, 401],
    ['expired', { ...ours, iat: now - 60, exp: now - 1 }, 440],
    ['expired and for others', { ...ours, aud: 'other', iat: now - 60, exp: now - 1 }, 401],
  ]
  for (const round of [1, 2]) {
    for (const [name, claims, status] of cases) {
      const { statusCode } = await app.inject({ url: '/v1/things', headers: bearer(token(claims)) })
      t.equal(statusCode, status, `${name}, ${round}`)
    }
  }
})

test('operators may do everything under /admin/v1, finance may read and make checks, users get 403', async (t) => {
  const { app } = await createMinimalApp(t)
  const table: readonly (readonly [object, number, number, number, number])[] = [
    // claims, GET, PUT, POST that finance may send, unknown path
    [{ sub: 'ann', role: 'operator' }, 200, 200, 200, 404],
    [{ sub: 'fin', role: 'finance' }, 200, 403, 200, 404],
    [{ sub: 5, role: 'operator' }, 200, 200, 200, 404],
    [{}, 403, 403, 403, 403],
    [{ sub: '100' }, 403, 403, 403, 403],
    [{ role: 'king' }, 403, 403, 403, 403],
    [{ sub: '', role: 'operator' }, 401, 401, 401, 401],
    [{ sub: 'a\nb', role: 'operator' }, 401, 401, 401, 401],
    [{ sub: 'é', role: 'operator' }, 200, 200, 200, 404],
    [{ sub: 'a\u202eb', role: 'operator' }, 401, 401, 401, 401],
    [{ sub: 'x'.repeat(101), role: 'operator' }, 401, 401, 401, 401],
    [{ sub: 'ann', role: 'operator', exp: now - 1 }, 440, 440, 440, 440],
  ]
  for (const [claims, get, put, post, unknown] of table) {
    const headers = bearer(token({ ...claims }))
    const name = JSON.stringify(claims).slice(0, 60)
    const answers = [
      await app.inject({ url: '/admin/v1/things', headers }),
      await app.inject({ method: 'HEAD', url: '/admin/v1/things', headers }),
      await app.inject({ method: 'PUT', url: '/admin/v1/things', headers, payload: { text: 'x' } }),
      await app.inject({ method: 'POST', url: '/admin/v1/checks', headers }),
      await app.inject({ url: '/admin/v1/nothing', headers }),
    ]
    t.same([name, ...answers.map(({ statusCode }) => statusCode)], [name, get, get, put, post, unknown])
  }
  const { data } = (
    await app.inject({ url: '/admin/v1/things', headers: bearer(token({ sub: 'ann', role: 'operator' })) })
  ).json()
  t.same(data, { kind: 'staff', role: 'operator', sub: 'ann' })
})

test('public keys pin their algorithm', async (t) => {
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
  const es = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ed = generateKeyPairSync('ed25519')
  const signers: Readonly<Record<string, (text: string) => Buffer>> = {
    RS256: rsa,
    ES256: (text) => signWith('sha256', Buffer.from(text), { key: es.privateKey, dsaEncoding: 'ieee-p1363' }),
    EdDSA: (text) => signWith(null, Buffer.from(text), ed.privateKey),
    RS512: (text) => signWith('sha512', Buffer.from(text), rs.privateKey),
  }
  const keys: readonly JwtKey[] = [
    { kind: 'public', algorithm: 'RS256', key: pem(rs.publicKey) },
    { kind: 'public', algorithm: 'ES256', key: pem(es.publicKey) },
    { kind: 'public', algorithm: 'EdDSA', key: pem(ed.publicKey) },
  ]
  for (const jwt of keys) {
    const { app } = await createMinimalApp(t, { jwt })
    if (jwt.kind === 'secret') continue
    for (const [alg, sign] of Object.entries(signers)) {
      const { statusCode } = await app.inject({ url: '/v1/things', headers: bearer(signed(alg, sign)) })
      t.equal(statusCode, alg === jwt.algorithm ? 200 : 401, `${alg} where ${jwt.algorithm} is configured`)
    }
    // The public key is not secret: it must not serve as an HMAC secret.
    const confused = signed('HS256', (text) => createHmac('sha256', jwt.key).update(text).digest())
    t.equal((await app.inject({ url: '/v1/things', headers: bearer(confused) })).statusCode, 401)
    t.equal((await app.inject({ url: '/v1/things', headers: bearer(none) })).statusCode, 401)
  }
})

test('a user is looked up once; an unreachable database is a 500, not a 401', async (t) => {
  let lookUps = 0
  let away = true
  const sessions = new Sessions(async () => {
    lookUps += 1
    if (away) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    return 0
  })
  const { app } = await createMinimalApp(t, { sessions })
  const ask = () => app.inject({ url: '/v1/things', headers: bearer(token()) })
  const failed = await ask()
  t.equal(failed.statusCode, 500)
  t.equal(failed.json().code, 'unavailable')
  away = false
  for (const { statusCode } of await Promise.all([ask(), ask(), ask()])) t.equal(statusCode, 200)
  t.equal(lookUps, 2)
})

test('both prefixes, with and without a slash at the end', async (t) => {
  const { app } = await createMinimalApp(t)
  for (const url of ['/api/v1/things', '/api/v1/things/', '/v1/things', '/v1/things/', '/v1/things?limit=5']) {
    t.equal((await app.inject({ url, headers: bearer(token()) })).statusCode, 200, url)
  }
  for (const url of '/things /api/things /v2/things /api/v1things /v1/THINGS /api/v1/v1/things /x'.split(' ')) {
    const response = await app.inject({ url, headers: bearer(token()) })
    t.equal(response.statusCode, 404, url)
    t.equal(response.json().code, 'not_found', url)
  }
  const wrongMethod = await app.inject({ method: 'PATCH', url: '/v1/things', headers: bearer(token()) })
  t.equal(wrongMethod.statusCode, 404)
})
