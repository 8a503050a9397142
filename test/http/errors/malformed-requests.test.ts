import { once } from 'node:events'
import { test } from 'tap'
import { createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { exchange, listen, openSocket, parseResponses } from '../../harness/http/raw-http.ts'

const H = 'Host: a\r\n'
const A = `Authorization: Bearer ${token()}\r\n`
const LAST = 'Connection: close\r\n\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const post = (head: string, body: string, version = '1.1') =>
  `POST /v1/optional HTTP/${version}\r\n${H}${A}${head}Connection: close\r\n\r\n${body}`
const get = (head: string) => `GET /v1/things HTTP/1.1\r\n${head}${LAST}`
const json = (head: string, body = '{}') => post(`${JSON_TYPE}${head}`, body)
const typed = (type: string, body: string) => post(`Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n`, body)
const NONE = '0\r\n\r\n'
const CHUNK = '2\r\n{}\r\n0\r\n\r\n'

/** Bytes that are sent, the statuses of the responses, and the code of the last one: `bad_request` for 400. */
const forms: readonly (readonly [string, string | Buffer, readonly number[], string?])[] = [
  ['a valid request', get(H + A), [200]],
  ['no Host', get(A), [400]],
  ['no Host and no token', get(''), [401], 'unauthenticated'],
  ['no Host in HTTP/1.0', `GET /v1/things HTTP/1.0\r\n${A}${LAST}`, [200]],
  ['two Hosts', get(`${H}HOST: b\r\n${A}`), [400]],
  ['another expectation', json('Expect: junk\r\nContent-Length: 2\r\n'), [417], 'expectation_failed'],
  ['an empty chunked body', typed('text/html', NONE), [200]],
  ['an empty chunked body of an invalid type', typed('what?', NONE), [200]],
  ['a chunk of an invalid type', typed('what?', CHUNK), [415], 'unsupported_media_type'],
  ['a chunk of another type', typed('a/b', CHUNK), [415], 'unsupported_media_type'],
  ['a length and chunks', json('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', `${NONE}X`), [400]],
  ['two lengths', json('Content-Length: 2\r\nContent-Length: 3\r\n', '{}x'), [400]],
  ['a length twice', json('Content-Length: 2\r\nContent-Length: 2\r\n'), [400]],
  ['a list of lengths', json('Content-Length: 2, 2\r\n'), [400]],
  ['a signed length', json('Content-Length: +2\r\n'), [400]],
  ['a huge length', json('Content-Length: 99999999999999999999\r\n'), [400]],
  ['a length that is no number', get(`${H}Content-Length: x\r\n`), [400]],
  ['a space before the colon', json('Transfer-Encoding : chunked\r\n', NONE), [400]],
  ['another coding', json('Transfer-Encoding: xchunked\r\n', NONE), [400]],
  ['two codings', json('Transfer-Encoding: gzip, chunked\r\n', CHUNK), [400]],
  ['chunks in HTTP/1.0', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, CHUNK, '1.0'), [400]],
  ['a chunk without a length', json('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n'), [400]],
  ['a folded header', get(`${H}X: a\r\n b\r\n${A}`), [400]],
  ['lines without a carriage return', 'GET /v1/things HTTP/1.1\nHost: a\n\n', [400]],
  ['a NUL in a header', get(`${H}X: a\0b\r\n${A}`), [400]],
  ['headers that are too large', get(`${H}${A}X: ${'x'.repeat(17_000)}\r\n`), [431], 'headers_too_large'],
  ['too many headers', get(`${H}${A}${'a: b\r\n'.repeat(3_000)}`), [431], 'headers_too_large'],
  ['an absolute address', `GET http://elsewhere/v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [200]],
  ['an absolute address without a path', `POST http://elsewhere HTTP/1.1\r\n${H}${LAST}`, [404], 'not_found'],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${H}${LAST}`, [404], 'not_found'],
  ['TRACE', `TRACE /v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [404], 'not_found'],
  ['QUERY', `QUERY /v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [404], 'not_found'],
  ['CONNECT', `CONNECT elsewhere:443 HTTP/1.1\r\n${H}\r\n`, [400]],
  ['another protocol', `GET /v1/things HTTP/1.1\r\n${H}${A}Connection: Upgrade, close\r\nUpgrade: junk\r\n\r\n`, [200]],
  ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['TLS', Buffer.from('160301020001000100fc0303', 'hex'), [400]],
  ['an unknown method', `FOO /v1/things HTTP/1.1\r\n${H}${LAST}`, [400]],
  ['no HTTP', 'GARBAGE\r\n\r\n', [400]],
]

test('malformed requests get error responses of the documented form', async (t) => {
  const { app } = await createMinimalApp(t)
  const port = await listen(app)
  for (const [name, bytes, statuses, code] of forms) {
    const answers = parseResponses(await exchange(port, bytes))
    const last = answers.at(-1)
    t.same([name, ...answers.map(({ status }) => status)], [name, ...statuses])
    t.match(last?.headers.get('x-request-id'), /^[0-9a-f-]{36}$/, name)
    const expected = last?.status === 400 ? 'bad_request' : code
    if (expected !== undefined) t.match(last?.body, { code: expected, message: String, request_id: String }, name)
  }
  const asking = await exchange(port, json('Expect: 100-Continue\r\nContent-Length: 2\r\n'))
  t.match(asking, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('requests before malformed input are answered first', async (t) => {
  const { app } = await createMinimalApp(t)
  const port = await listen(app)
  const whole = `GET /v1/things HTTP/1.1\r\n${H}${A}\r\n`
  // A read of the database, which is unreachable, takes some turns of the event loop.
  const slow = `GET /v1/reads HTTP/1.1\r\n${H}${A}\r\n`
  for (const before of [[whole], [slow], [slow, slow, whole]]) {
    const answers = parseResponses(await exchange(port, `${before.join('')}GARBAGE\r\n\r\n`))
    const expected = before.map((request) => (request === slow ? 500 : 200))
    const statuses = answers.map(({ status }) => status)
    t.same(statuses, [...expected, 400])
    t.match(answers.at(-1)?.body, { code: 'bad_request' })
  }
})

test('a connection reset affects no other connection', async (t) => {
  const { app } = await createMinimalApp(t)
  const port = await listen(app)
  const begun = `POST /v1/optional HTTP/1.1\r\n${H}${A}`
  for (const bytes of [`CONNECT a:1 HTTP/1.1\r\n${H}\r\n`, 'GARBAGE\r\n\r\n', begun]) {
    for (let i = 0; i < 20; i += 1) {
      const socket = openSocket(port)
      await once(socket, 'connect')
      socket.write(bytes)
      if (i % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
      socket.resetAndDestroy()
    }
  }
  t.equal((await exchange(port, `GET /healthz HTTP/1.1\r\n${H}${LAST}`)).slice(9, 12), '200')
})

test('a prefix with encoded letters reaches no route', async (t) => {
  const { app, log } = await createMinimalApp(t)
  const user = { authorization: `Bearer ${token()}` }
  const staff = { authorization: `Bearer ${token({ sub: 'ann', role: 'operator' })}` }
  const rows = [
    ['/%61dmin/v1/things', staff],
    ['/admin/%76%31/things?limit=5', staff],
    ['http://127.0.0.1/%61dmin/v1/things', staff],
    ['/v%31/things', user],
    ['/%61pi/v1/things', user],
    ['/api/v%31/things', user],
    ['/h%65althz', {}],
    ['/%6detrics', {}],
    ['/%64ocs/json', {}],
  ] as const
  for (const [url, headers] of rows) {
    const { statusCode } = await app.inject({ url, headers })
    t.equal(statusCode, 404, url)
  }
  t.equal((await app.inject('/%61dmin/v1/things')).statusCode, 401, 'and is checked like its prefix')
  t.match(log.join(''), '"path":"/%61dmin/v1/things"', 'logged as it was requested')
})

test('a path that cannot be decoded gets the same checks as any other', async (t) => {
  const { app, log } = await createMinimalApp(t, { rateLimit: 2 })
  const headers = { authorization: `Bearer ${token()}` }
  const undecodable = '/v1/things% /api/v1/%ff /v1/things/%E0%A4%A/more /%761/things% /admin/v1/things%ff'.split(' ')
  for (const url of [...undecodable, `/v1/things/${'x'.repeat(5_000)}`]) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 401, url)
    t.match(response.json(), { code: 'unauthenticated', request_id: response.headers['x-request-id'] })
  }
  const staff = await app.inject({ url: '/admin/v1/%', headers })
  t.equal(staff.statusCode, 403)
  for (const expected of [404, 404, 429]) t.equal((await app.inject({ url: '/v1/%', headers })).statusCode, expected)
  t.equal((await app.inject('/%')).statusCode, 404)
  t.equal((await app.inject('/v1%')).statusCode, 404)
  // A busy machine may have logged a stall among them.
  const logged = log.filter((line) => line.includes('"path":'))
  t.match(logged[0], '"path":"/v1/things%"', 'logged as it was requested')
  t.equal(logged.length, 11, 'each once; the one over the limit has a line of another form')
  const { body } = await app.inject('/metrics')
  t.match(body, 'http_request_duration_seconds_count{method="GET",route="none",status="401"} 6\n')
})
