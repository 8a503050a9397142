import { once } from 'node:events'
import { test } from 'tap'
import { createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { exchange, listen, openSocket, parseResponses } from '../../harness/http/raw-http.ts'

const H = 'Host: a\r\n'
const A = `Authorization: Bearer ${token()}\r\n`
const LAST = 'Connection: close\r\n\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const post = (head: string, body: string, version = '1.1') =>
  `POST /v1/optional HTTP/${version}\r\n${head}Connection: close\r\n\r\n${body}`

/** Bytes that are sent, the statuses of the responses, and the code of the last one. */
const forms: readonly (readonly [string, string | Buffer, readonly number[], string?])[] = [
  ['a valid request', `GET /v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [200]],
  ['no Host', `GET /v1/things HTTP/1.1\r\n${A}${LAST}`, [400], 'bad_request'],
  ['no Host and no token', `GET /v1/things HTTP/1.1\r\n${LAST}`, [401], 'unauthenticated'],
  ['no Host in HTTP/1.0', `GET /v1/things HTTP/1.0\r\n${A}${LAST}`, [200]],
  ['two Hosts', `GET /v1/things HTTP/1.1\r\n${H}HOST: b\r\n${A}${LAST}`, [400], 'bad_request'],
  [
    'another expectation',
    post(`${H}${A}${JSON_TYPE}Expect: junk\r\nContent-Length: 2\r\n`, '{}'),
    [417],
    'expectation_failed',
  ],
  ['100-continue', post(`${H}${A}${JSON_TYPE}Expect: 100-Continue\r\nContent-Length: 2\r\n`, '{}'), [100, 200]],
  [
    'an empty chunked body',
    post(`${H}${A}Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n`, '0\r\n\r\n'),
    [200],
  ],
  [
    'an empty chunked body of an invalid type',
    post(`${H}${A}Content-Type: what?\r\nTransfer-Encoding: chunked\r\n`, '0\r\n\r\n'),
    [200],
  ],
  [
    'a chunk of an invalid type',
    post(`${H}${A}Content-Type: what?\r\nTransfer-Encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
    [415],
    'unsupported_media_type',
  ],
  [
    'a chunk of another type',
    post(`${H}${A}Content-Type: a/b\r\nTransfer-Encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
    [415],
    'unsupported_media_type',
  ],
  [
    'a length and chunks',
    post(`${H}${A}${JSON_TYPE}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n`, '0\r\n\r\nX'),
    [400],
    'bad_request',
  ],
  ['two lengths', post(`${H}${A}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 3\r\n`, '{}x'), [400], 'bad_request'],
  ['two lengths', post(`${H}${A}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 2\r\n`, '{}'), [400], 'bad_request'],
  ['a list of lengths', post(`${H}${A}${JSON_TYPE}Content-Length: 2, 2\r\n`, '{}'), [400], 'bad_request'],
  ['a signed length', post(`${H}${A}${JSON_TYPE}Content-Length: +2\r\n`, '{}'), [400], 'bad_request'],
  ['a huge length', post(`${H}${A}${JSON_TYPE}Content-Length: 99999999999999999999\r\n`, '{}'), [400], 'bad_request'],
  [
    'a space before the colon',
    post(`${H}${A}${JSON_TYPE}Transfer-Encoding : chunked\r\n`, '0\r\n\r\n'),
    [400],
    'bad_request',
  ],
  ['another coding', post(`${H}${A}${JSON_TYPE}Transfer-Encoding: xchunked\r\n`, '0\r\n\r\n'), [400], 'bad_request'],
  [
    'two codings',
    post(`${H}${A}${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
    [400],
    'bad_request',
  ],
  [
    'chunks in HTTP/1.0',
    post(`${H}${A}${JSON_TYPE}Transfer-Encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n', '1.0'),
    [400],
    'bad_request',
  ],
  [
    'a chunk without a length',
    post(`${H}${A}${JSON_TYPE}Transfer-Encoding: chunked\r\n`, 'zz\r\n{}\r\n'),
    [400],
    'bad_request',
  ],
  ['a folded header', `GET /v1/things HTTP/1.1\r\n${H}X: a\r\n b\r\n${A}${LAST}`, [400], 'bad_request'],
  ['lines without a carriage return', `GET /v1/things HTTP/1.1\nHost: a\n\n`, [400], 'bad_request'],
  ['a NUL in a header', `GET /v1/things HTTP/1.1\r\n${H}X: a\0b\r\n${A}${LAST}`, [400], 'bad_request'],
  [
    'headers that are too large',
    `GET /v1/things HTTP/1.1\r\n${H}${A}X: ${'x'.repeat(17_000)}\r\n${LAST}`,
    [431],
    'headers_too_large',
  ],
  [
    'too many headers',
    `GET /v1/things HTTP/1.1\r\n${H}${A}${'a: b\r\n'.repeat(3_000)}${LAST}`,
    [431],
    'headers_too_large',
  ],
  ['an absolute address', `GET http://elsewhere/v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [200]],
  ['an absolute address without a path', `POST http://elsewhere HTTP/1.1\r\n${H}${LAST}`, [404], 'not_found'],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${H}${LAST}`, [404], 'not_found'],
  ['TRACE', `TRACE /v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [404], 'not_found'],
  ['QUERY', `QUERY /v1/things HTTP/1.1\r\n${H}${A}${LAST}`, [404], 'not_found'],
  ['CONNECT', `CONNECT elsewhere:443 HTTP/1.1\r\n${H}\r\n`, [400], 'bad_request'],
  ['another protocol', `GET /v1/things HTTP/1.1\r\n${H}${A}Connection: Upgrade, close\r\nUpgrade: junk\r\n\r\n`, [200]],
  ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400], 'bad_request'],
  ['TLS', Buffer.from('160301020001000100fc0303', 'hex'), [400], 'bad_request'],
  ['an unknown method', `FOO /v1/things HTTP/1.1\r\n${H}${LAST}`, [400], 'bad_request'],
]

test('malformed requests get error responses of the documented form', async (t) => {
  const { app } = await createMinimalApp(t)
  const port = await listen(app)
  for (const [name, bytes, statuses, code] of forms) {
    const answers = parseResponses(await exchange(port, bytes))
    t.same(
      answers.map(({ status }) => status),
      statuses,
      name,
    )
    const last = answers.at(-1)
    t.match(last?.head, /\r\nX-Request-Id: [0-9a-f-]{36}/i, name)
    if (code !== undefined) t.match(last?.body, { code, message: String, request_id: String }, name)
  }
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
    t.same(
      answers.map(({ status }) => status),
      [...expected, 400],
    )
    t.match(answers.at(-1)?.body, { code: 'bad_request' })
  }
})

test('a connection reset affects no other connection', async (t) => {
  const { app } = await createMinimalApp(t)
  const port = await listen(app)
  for (const bytes of [
    `CONNECT a:1 HTTP/1.1\r\n${H}\r\n`,
    'GARBAGE\r\n\r\n',
    `POST /v1/optional HTTP/1.1\r\n${H}${A}`,
  ]) {
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

test('a path that cannot be decoded gets the same checks as any other', async (t) => {
  const { app, log } = await createMinimalApp(t, { rateLimit: 2 })
  const headers = { authorization: `Bearer ${token()}` }
  const undecodable = [
    '/v1/things%',
    '/api/v1/%ff',
    '/v1/things/%E0%A4%A/more',
    '/%761/things%',
    '/admin/v1/things%ff',
    `/v1/things/${'x'.repeat(5_000)}`,
  ]
  for (const url of undecodable) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 401, url)
    t.match(response.json(), { code: 'unauthenticated', request_id: response.headers['x-request-id'] })
  }
  const staff = await app.inject({ url: '/admin/v1/%', headers })
  t.equal(staff.statusCode, 403)
  for (const expected of [404, 404, 429]) t.equal((await app.inject({ url: '/v1/%', headers })).statusCode, expected)
  t.equal((await app.inject('/%')).statusCode, 404)
  t.equal((await app.inject('/v1%')).statusCode, 404)
  t.match(log[0], '"path":"/v1/things%"', 'logged as it was requested')
  t.equal(log.length, 12, 'each once')
  const { body } = await app.inject('/metrics')
  t.match(body, 'http_request_duration_seconds_count{method="GET",route="none",status="401"} 6\n')
})
