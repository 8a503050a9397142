import { test } from 'tap'
import { bearer, createMinimalApp, token } from '../harness/app/minimal-app.ts'

const origin = 'https://app.example.com'
const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }

test('pages of an allowed origin read every response of a client route', async (t) => {
  const { app } = await createMinimalApp(t, { allowedOrigins: ['https://other.example.com', origin] })
  const rows: readonly [name: string, method: 'GET' | 'POST', url: string, headers: object, status: number][] = [
    ['a response', 'GET', '/v1/things', bearer(token()), 200],
    ['one with a slash at the end', 'GET', '/api/v1/things/', bearer(token()), 200],
    ['no token', 'GET', '/api/v1/things', {}, 401],
    ['no route', 'GET', '/v1/nothing', bearer(token()), 404],
    ['a path that cannot be decoded', 'GET', '/v1/%zz', bearer(token()), 404],
    ['a body that does not match', 'POST', '/v1/things', bearer(token()), 422],
    ['a bug', 'GET', '/v1/mishaps/bug', bearer(token()), 500],
  ]
  for (const [name, method, url, headers, status] of rows) {
    const response = await app.inject({ method, url, headers: { ...headers, origin } })
    t.match(
      response,
      {
        statusCode: status,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-expose-headers':
            'Retry-After, Idempotency-Replayed, X-Ledger-Position, X-Ledger, X-Request-Id, ETag',
          vary: 'Origin',
        },
      },
      name,
    )
    t.equal(response.headers['access-control-allow-credentials'], undefined, name)
  }
})

test('a preflight is answered before the gate and the token', async (t) => {
  const gate = () => {
    throw new Error('the gate was asked')
  }
  const { app } = await createMinimalApp(t, { allowedOrigins: [origin], gate })
  for (const url of ['/api/v1/things', '/v1/things', '/v1/app-status', '/v1/nothing']) {
    const { statusCode, headers, body } = await app.inject({ method: 'OPTIONS', url, headers: preflight })
    t.same([statusCode, body], [204, ''], url)
    t.match(headers, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, Accept-Language, Idempotency-Key, Client-Type, Client-Version, X-Ledger-Position, X-Ledger, X-Request-Id',
      'x-ledger-position': '0',
      vary: 'Origin',
    })
  }
})

test('while nothing is answered any more, pages read that, too', async (t) => {
  const { app } = await createMinimalApp(t, { allowedOrigins: [origin], isVoid: () => true })
  const unavailable = { statusCode: 500, body: /"code":"unavailable"/ }
  for (const url of ['/api/v1/things', '/v1/things', '/v1/nothing']) {
    t.match(await app.inject({ method: 'OPTIONS', url, headers: preflight }), { statusCode: 204 }, url)
    const response = await app.inject({ url, headers: { ...bearer(token()), origin } })
    t.match(response, { ...unavailable, headers: { 'access-control-allow-origin': origin, vary: 'Origin' } }, url)
  }
  const others = { ...preflight, origin: 'https://other.example.com' }
  t.match(await app.inject({ method: 'OPTIONS', url: '/v1/things', headers: others }), unavailable)
  t.match(await app.inject({ method: 'OPTIONS', url: '/admin/v1/things', headers: preflight }), unavailable)
})

test('other origins and other routes get no permission', async (t) => {
  const { app } = await createMinimalApp(t, { allowedOrigins: [origin] })
  const rows: readonly [url: string, from: string | undefined, vary: string | undefined][] = [
    ['/v1/things', undefined, 'Origin'],
    ['/v1/things', 'null', 'Origin'],
    ['/v1/things', `${origin}.evil.example`, 'Origin'],
    ['/v1/things', origin.toUpperCase(), 'Origin'],
    ['/admin/v1/things', origin, undefined],
    ['/console', origin, undefined],
  ]
  for (const [url, from, vary] of rows) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { origin: _allowed, ...others } = preflight
      const headers = from === undefined ? others : { ...others, origin: from }
      const response = await app.inject({ method, url, headers })
      t.not(response.statusCode, 204)
      t.equal(response.headers['access-control-allow-origin'], undefined, `${method} ${url} of ${from}`)
      t.equal(response.headers['access-control-allow-methods'], undefined)
      t.equal(response.headers.vary, vary)
    }
  }
})

test('without allowed origins nothing is said of them', async (t) => {
  const { app } = await createMinimalApp(t)
  const { headers } = await app.inject({ method: 'OPTIONS', url: '/v1/things', headers: preflight })
  t.equal(headers['access-control-allow-origin'], undefined)
  t.equal(headers.vary, undefined)
})
