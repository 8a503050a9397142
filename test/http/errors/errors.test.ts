import { DatabaseError } from 'pg'
import { test } from 'tap'
import { problemOf } from '../../../src/http/errors/http-error.ts'
import { Unavailable } from '../../../src/ledger/executor/failures.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { until } from '../../harness/until.ts'

test('all errors have the same form and reveal no internals', async (t) => {
  const { app, executor, log } = await createMinimalApp(t)
  const headers = bearer(token())
  const table: readonly (readonly ['GET' | 'POST', string, number, string])[] = [
    ['GET', '/v1/mishaps/http', 403, 'not_yours'],
    ['GET', '/v1/mishaps/bug', 500, 'internal'],
    ['GET', '/v1/mishaps/text', 500, 'internal'],
    ['GET', '/v1/mishaps/plugin', 500, 'internal'],
    ['GET', '/v1/mishaps/teapot', 418, 'i_m_a_teapot'],
    ['GET', '/v1/nowhere', 404, 'not_found'],
    ['GET', '/v1/reads', 500, 'unavailable'],
    ['POST', '/v1/runs', 500, 'unavailable'],
  ]
  for (const [method, url, status, code] of table) {
    const mine = { 'x-request-id': 'mine', 'request-id': 'mine' }
    const response = await app.inject({ method, url, headers: { ...headers, ...mine } })
    t.equal(response.statusCode, status, url)
    t.match(response.headers, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': /^[0-9a-f-]{36}$/ })
    const { code: actual, request_id, message, ...rest } = response.json()
    t.equal(actual, code, url)
    t.equal(request_id, response.headers['x-request-id'])
    t.type(message, 'string')
    t.same(rest, url.endsWith('/http') ? { errors: { id: ['is not yours'] } } : {})
    t.notMatch(response.body, /secret|thrown|ECONNREFUSED|127\.0\.0\.1/)
    const lines = log.filter((line) => line.includes(request_id)).map((line) => JSON.parse(line))
    t.equal(lines.length, 1, 'one line a request')
    t.match(lines[0], { level: status < 500 ? 30 : 50, status, method, request_id })
    t.equal('err' in lines[0], status >= 500, 'a stack only for server errors')
  }
  await executor.close()
  const closed = await app.inject({ method: 'POST', url: '/v1/runs', headers })
  t.equal(closed.statusCode, 500)
  t.equal(closed.json().code, 'unavailable')
})

test('a full queue is answered with 429 and Retry-After', async (t) => {
  const { app } = await createMinimalApp(t, { limits: { maxQueued: 0 } })
  const response = await app.inject({ method: 'POST', url: '/v1/runs', headers: bearer(token()) })
  t.equal(response.statusCode, 429)
  t.equal(response.json().code, 'overloaded')
  t.equal(response.headers['retry-after'], '1')
  t.match((await app.inject('/metrics')).body, 'http_refusals_total{reason="overloaded"} 1\n')
})

test('errors of an unreachable database are `unavailable`, of an overloaded one `overloaded`', async (t) => {
  const coded = (code: string) => Object.assign(new Error('x'), { code })
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '08006', '57P01', '57P03', '53100']) {
    t.equal(problemOf(coded(code)).code, 'unavailable', code)
  }
  const timeouts = ['timeout expired', 'timeout exceeded when trying to connect']
  for (const message of ['Connection terminated unexpectedly', ...timeouts]) {
    t.equal(problemOf(new Error(message)).code, 'unavailable', message)
  }
  // What the recovery of a standby cancelled may be repeated.
  const cancelled = new DatabaseError('canceling statement due to conflict with recovery', 6, 'error')
  t.match(problemOf(Object.assign(cancelled, { code: '40001' })), { status: 500, code: 'unavailable' })
  const refused = new Unavailable('the database is away', { cause: coded('53300') })
  for (const error of [coded('53300'), coded('57014'), refused]) {
    t.match(problemOf(error), { status: 429, code: 'overloaded', headers: { 'retry-after': '1' } })
  }
  for (const code of ['23505', '42P01', '22P02', 'ENOENT']) t.equal(problemOf(coded(code)).code, 'internal', code)
})

test('secrets and queries do not reach the log', async (t) => {
  const { app, log } = await createMinimalApp(t, { logLevel: 'trace' })
  const secret = token()
  const expired = token({ exp: 1 })
  const requests = [
    { url: '/v1/things?cursor=query-secret', headers: bearer(secret) },
    { url: '/v1/things?limit=query-secret', headers: bearer(secret) },
    { url: '/v1/mishaps/bug?x=query-secret', headers: { ...bearer(secret), cookie: 'query-secret' } },
    { url: '/v1/things', headers: bearer(expired) },
    { url: '/v1/nowhere?x=query-secret#query-secret', headers: bearer(secret) },
    { url: '/v1/%zz?query-secret', headers: bearer(secret) },
    { url: `/ws/${secret}` },
    { method: 'DELETE' as const, url: '/v1/devices/query-secret', headers: bearer(secret) },
    { method: 'POST' as const, url: '/v1/things', headers: bearer(secret), payload: { name: 'query-secret' } },
  ]
  for (const request of requests) await app.inject(request)
  const mistake = { headers: { authorization: secret }, token: secret, user: { bank_details: { a: secret } } }
  app.log.info(mistake, 'by mistake')
  const all = log.join('')
  t.ok(log.length >= requests.length, all)
  t.notMatch(all, 'query-secret')
  for (const text of [secret, expired, secret.split('.')[2]]) t.notOk(text !== undefined && all.includes(text))
  t.match(all, '"route":"/v1/things","path":"/v1/things","status":200')
})

test('successful requests are logged at debug level only', async (t) => {
  const { app, log } = await createMinimalApp(t, { logLevel: 'info' })
  const logged = () => log.filter((line) => line.includes('"path":')).length
  await app.inject({ url: '/v1/things', headers: bearer(token()) })
  t.equal(logged(), 0)
  await app.inject({ url: '/v1/things' })
  t.equal(logged(), 1)
})

test('a flood of bad requests logs few lines, at least one of each kind', async (t) => {
  const { app, log } = await createMinimalApp(t, { logLevel: 'info' })
  const startedAt = performance.now()
  const requests = Array.from({ length: 300 }, () => app.inject({ url: '/v1/things', headers: bearer('bad') }))
  for (const { statusCode } of await Promise.all(requests)) t.equal(statusCode, 401)
  await app.inject({ url: '/v1/mishaps/bug' })
  await app.inject({ url: '/v1/mishaps/bug', headers: bearer(token()) })
  await app.inject({ url: '/v1/nowhere', headers: bearer(token()) })
  const linesOf = () => log.map((line) => JSON.parse(line))
  const logged = () => linesOf().filter(({ status, route }) => `${status} ${route}` === '401 /v1/things').length
  const suppressed = () =>
    linesOf().reduce((sum, line) => sum + (line.of === 'request 401 /v1/things' ? line.suppressed : 0), 0)
  await until(() => logged() + suppressed() === requests.length)
  // Each second has lines of its own, also on a busy machine.
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1
  t.ok(logged() >= 50 && logged() <= 50 * seconds && suppressed() > 0, `${logged()} logged, ${suppressed()} suppressed`)
  const counts = Object.groupBy(linesOf(), ({ status, route }) => `${status} ${route}`)
  t.match(counts, { '401 /v1/mishaps/:name': [{}], '500 /v1/mishaps/:name': [{}], '404 null': [{}] })
})
