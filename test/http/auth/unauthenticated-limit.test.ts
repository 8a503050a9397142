import { test } from 'tap'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { nowSeconds } from '../../harness/http/tokens.ts'

const operator = { sub: 'ann', role: 'operator' }

test('failed authentications are limited by address; requests with a valid token are not', async (t) => {
  const { app, metrics } = await createMinimalApp(t, { addressLimit: new AddressLimit(8) })
  const ask = (url: string, headers = {}, remoteAddress = '203.0.113.7', method: 'GET' | 'PUT' = 'GET') =>
    app.inject({ method, url, headers, remoteAddress })
  const failures: readonly (readonly [string, object, number])[] = [
    ['/v1/things', {}, 401],
    ['/v1/nowhere', bearer('a.b.c'), 401],
    ['/v1/things', bearer(token({}, 'another secret')), 401],
    ['/v1/things', bearer(token({ sub: '100' })), 401],
    ['/v1/things', bearer(token({ exp: nowSeconds() - 1 })), 440],
    ['/v1/things', bearer(token({ sub: '9', iat: nowSeconds() - 120 })), 440],
    ['/admin/v1/things', {}, 401],
    ['/admin/v1/things', bearer(token({ sub: 'bob', role: 'finance', iat: nowSeconds() - 120 })), 440],
  ]
  for (const [url, headers, status] of failures) t.equal((await ask(url, headers)).statusCode, status, url)
  for (const [url, headers] of failures) {
    const response = await ask(url, headers)
    t.equal(response.statusCode, 429, url)
    t.match(response.json(), { code: 'rate_limited', message: String, request_id: String })
    const wait = Number(response.headers['retry-after'])
    t.ok(wait >= 1 && wait <= 60, `Retry-After: ${wait}`)
  }
  t.match(await metrics.registry.metrics(), 'http_refusals_total{reason="address"} 8')
  t.equal((await ask('/v1/things', {}, '::ffff:203.0.113.7')).statusCode, 429, 'the same address, written as IPv6')
  t.equal((await ask('/v1/things', {}, '203.0.113.8')).statusCode, 401, 'another address')

  for (let i = 0; i < 5; i += 1) {
    const finance = bearer(token({ sub: 'fin', role: 'finance' }))
    const answers = [
      await ask('/v1/things', bearer(token({ jti: String(i) }))),
      await ask('/v1/nowhere', bearer(token())),
      await ask('/admin/v1/things', bearer(token())),
      await ask('/v1/things', bearer(token(operator))),
      await ask('/admin/v1/things', finance, '203.0.113.7', 'PUT'),
      await ask('/admin/v1/things', bearer(token(operator))),
    ]
    const statuses = answers.map(({ statusCode }) => statusCode)
    t.same(statuses, [200, 404, 403, 403, 403, 200], 'valid tokens')
  }
})

test('the client’s address is taken from X-Forwarded-For of trusted proxies only', async (t) => {
  const statuses = async (trustProxy: readonly string[], remoteAddress: string, forwarded: readonly string[]) => {
    const { app } = await createMinimalApp(t, { addressLimit: new AddressLimit(1), trustProxy })
    const answers: number[] = []
    for (const client of forwarded) {
      const headers = { 'x-forwarded-for': client }
      answers.push((await app.inject({ url: '/v1/things', remoteAddress, headers })).statusCode)
    }
    return answers
  }
  const two = ['198.51.100.1', '198.51.100.2', '198.51.100.1']
  t.same(await statuses([], '10.0.0.9', two), [401, 429, 429], 'no proxy is trusted')
  t.same(await statuses(['10.0.0.0/8'], '10.0.0.9', two), [401, 401, 429])
  t.same(await statuses(['10.0.0.0/8'], '203.0.113.7', two), [401, 429, 429], 'another proxy')
  const spoofed = ['192.0.2.1, 198.51.100.1', '192.0.2.2, 198.51.100.1']
  t.same(await statuses(['10.0.0.0/8'], '10.0.0.9', spoofed), [401, 429], 'entries that the client wrote itself')
})

test('METRICS_TOKEN closes /metrics', async (t) => {
  const { app } = await createMinimalApp(t, {
    metricsToken: 'a token of Prometheus',
    addressLimit: new AddressLimit(4),
  })
  const ask = (headers = {}) => app.inject({ url: '/metrics', headers })
  for (const headers of [{}, bearer('x'), bearer(token(operator)), { authorization: 'a token of Prometheus' }]) {
    const response = await ask(headers)
    t.equal(response.statusCode, 401)
    t.match(response.json(), { code: 'unauthenticated' })
  }
  t.equal((await ask(bearer('x'))).statusCode, 429)
  t.equal((await app.inject('/healthz')).statusCode, 200)

  const { app: open } = await createMinimalApp(t, { metricsToken: 'prometheus', addressLimit: new AddressLimit(1) })
  for (let i = 0; i < 3; i += 1) {
    t.equal((await open.inject({ url: '/metrics', headers: bearer('prometheus') })).statusCode, 200)
  }
})

test('responses forbid sniffing, and personal ones forbid caching', async (t) => {
  const { app } = await createMinimalApp(t)
  const personal: readonly (readonly [string, Record<string, string>, number])[] = [
    ['/v1/things', bearer(token()), 200],
    ['/api/v1/things', {}, 401],
    ['/v1/nowhere', bearer(token()), 404],
    ['/v1/%zz', {}, 401],
    ['/v1/things?limit=x', bearer(token()), 422],
    ['/admin/v1/things', bearer(token(operator)), 200],
    ['/admin/v1/things', bearer(token()), 403],
  ]
  for (const [url, headers, status] of personal) {
    const response = await app.inject({ url, headers })
    t.equal(response.statusCode, status, url)
    t.match(response.headers, { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, url)
  }
  for (const url of ['/healthz', '/metrics', '/docs/json', '/nowhere']) {
    t.equal((await app.inject(url)).headers['x-content-type-options'], 'nosniff', url)
  }
})
