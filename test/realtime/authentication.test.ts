import { type Test, test } from 'tap'
import { revokeSessions } from '../../src/features/users/user.ts'
import { alwaysOpen, type ClosedState } from '../../src/http/auth/gate.ts'
import { bearer, token } from '../harness/app/minimal-app.ts'
import { chatSlices, createRooms, postToRoom, runVerb } from '../harness/app/realtime-fixtures.ts'
import {
  connectAs,
  type InstanceOptions,
  startInstance,
  TestClient,
  type TestInstance,
} from '../harness/app/realtime-instance.ts'
import { exchange, openSocket, parseResponses } from '../harness/http/raw-http.ts'
import { nowSeconds } from '../harness/http/tokens.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'
import { upgradeRequest } from '../harness/websocket/raw-frames.ts'

/** Clients have time to authenticate, however busy the machine is. */
const quick = { heartbeat: 60_000, auth: 600_000, sweep: 20 }

async function live(t: Test, wishes: InstanceOptions = {}): Promise<TestInstance> {
  const database = await testDatabase()
  await createRooms(database, 1, 3)
  return startInstance(t, database, chatSlices, { times: quick, ...wishes })
}

const maintenance: ClosedState = {
  status: 503,
  body: { status: 'success', type: 'maintenance', data: { title: 'Soon', message: 'We are back soon.' } },
}

test('upgrade requests are accepted, or refused with a status and code', async (t) => {
  let closed: ClosedState | undefined
  const appState = { ...alwaysOpen, gate: () => closed }
  const instance = await live(t, { allowedOrigins: ['https://app.example'], appState })
  const { origin } = instance
  await runVerb(instance, revokeSessions, { user_id: 3 })
  const good = bearer(token({ sub: '1' }))
  const [evil, foreign] = ['http://evil.example', 'origin_not_allowed']
  const rows: readonly (readonly [string, string, Record<string, string>, number, string | undefined])[] = [
    ['a token in the header', '/ws', good, 101, undefined],
    ['under a prefix', '/v1/ws', good, 101, undefined],
    ['under the other prefix, with a slash', '/api/v1/ws/?x=1', good, 101, undefined],
    ['no token yet', '/ws', {}, 101, undefined],
    ['a page of the own origin', '/ws', { origin, ...good }, 101, undefined],
    ['the own origin as localhost', '/ws', { origin: origin.replace('127.0.0.1', 'localhost') }, 101, undefined],
    ['an origin that matches only the Host header', '/ws', { origin: evil, host: 'evil.example' }, 403, foreign],
    ['an allowed origin', '/ws', { origin: 'https://app.example' }, 101, undefined],
    ['a token in the address', `/ws?token=${token()}`, {}, 400, 'token_in_url'],
    ['a token in the address and in the header', '/ws?token=x', { origin: evil, ...good }, 400, 'token_in_url'],
    ['access_token in the address', `/ws?access_token=${token()}`, {}, 400, 'token_in_url'],
    ['a header in the address', `/ws?Authorization=Bearer%20${token()}`, {}, 400, 'token_in_url'],
    ['access_token in capitals', `/ws?Access_Token=${token()}`, good, 400, 'token_in_url'],
    ['jwt in the address', `/v1/ws/?x=1&jwt=${token()}`, good, 400, 'token_in_url'],
    ['another origin', '/ws', { origin: evil, ...good }, 403, foreign],
    ['origin null', '/ws', { origin: 'null' }, 403, foreign],
    ['another origin with an invalid token', '/ws', { origin: 'http://app.example', ...bearer('x') }, 403, undefined],
    ['an invalid token', '/ws', bearer('a.b.c'), 401, 'unauthenticated'],
    ['an empty Authorization header', '/ws', { authorization: '' }, 401, 'unauthenticated'],
    ['an expired token', '/ws', bearer(token({ sub: '1', exp: nowSeconds() - 1 })), 440, 'session_expired'],
    ['a revoked token', '/ws', bearer(token({ sub: '3', iat: nowSeconds() - 9 })), 440, 'session_expired'],
    ['a token of an unknown user', '/ws', bearer(token({ sub: '77' })), 401, 'unknown_user'],
    ['a token of staff', '/ws', bearer(token({ sub: 'ann', role: 'operator' })), 403, 'forbidden'],
    ['a path without websockets', '/v1/rooms/R1', good, 404, 'not_found'],
  ]
  for (const [what, path, headers, status, code] of rows) {
    const client = new TestClient(origin, { path, headers })
    await until(() => client.isSettled)
    t.equal(client.isOpen ? 101 : client.rejection?.status, status, what)
    if (client.rejection !== undefined) {
      t.match(JSON.parse(client.rejection.body), { message: String, request_id: String, ...(code && { code }) }, what)
    } else if ('authorization' in headers) {
      t.match(await client.waitForFrame('ready'), { user_id: 1, heartbeat: 60 }, what)
    }
    await client.close()
  }

  closed = maintenance
  for (const path of ['/ws', '/v1/ws?token=1', '/api/v1/ws']) {
    const client = new TestClient(origin, { path, headers: bearer(token({ exp: 1 })) })
    const { status, body } = await client.waitFor((c) => c.rejection, 'answer')
    t.same([status, JSON.parse(body)], [503, maintenance.body], path)
  }
  t.same(instance.log, [])
})

test('requests on a raw connection, and authentication by a frame', async (all) => {
  const instance = await live(all)
  const { origin } = instance
  const port = Number(new URL(origin).port)

  await all.test('requests that are not WebSocket handshakes get HTTP errors', async (t) => {
    const lines = (path: string, ...headers: string[]) =>
      [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: Upgrade, close', ...headers, '', ''].join('\r\n')
    const upgrade = 'Upgrade: websocket'
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
    const rows: readonly (readonly [string, number, string])[] = [
      [lines('/ws'), 400, 'not_a_websocket'],
      [lines('/ws', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'), 400, 'not_a_websocket'],
      [lines('/v1/ws', upgrade), 400, 'bad_handshake'],
      [lines('/ws', upgrade, 'Sec-WebSocket-Version: 13'), 400, 'bad_handshake'],
      [lines('/ws', upgrade, 'Sec-WebSocket-Version: 99', key), 400, 'bad_handshake'],
      ...[',,', 'a,a', '('].map(
        (names) =>
          [
            lines('/ws', upgrade, 'Sec-WebSocket-Version: 13', key, `Sec-WebSocket-Protocol: ${names}`),
            400,
            'bad_handshake',
          ] as const,
      ),
      [lines('/v1/nowhere', upgrade), 401, 'unauthenticated'],
      [lines('/nowhere', upgrade), 404, 'not_found'],
      [lines('/ws', upgrade).replace('GET', 'POST'), 404, 'not_found'],
    ]
    for (const [bytes, status, code] of rows) {
      t.match(parseResponses(await exchange(port, bytes)), [{ status, body: { code } }], bytes)
    }
  })

  await all.test('an upgrade before the response to an earlier request is refused, one after it is not', async (t) => {
    const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const upgrade = upgradeRequest(port, '/ws', token({ sub: '1' }))
    for (const bytes of [request + upgrade, request + request + upgrade + request]) {
      const answers = parseResponses(await exchange(port, bytes))
      const [last] = answers.slice(-1)
      t.same(new Set(answers.slice(0, -1).map(({ status }) => status)), new Set([200]))
      t.match(last, { status: 400, body: { code: 'not_a_websocket' } })
      t.equal(last?.headers.get('connection'), 'close')
    }
    const socket = openSocket(port)
    t.teardown(() => socket.destroy())
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.write(request)
    await until(() => parseResponses(received).length === 1)
    socket.write(upgrade)
    await until(() => received.includes('HTTP/1.1 101'))
    t.same(instance.log, [])
  })

  await all.test('a client authenticates by its first frame', async (t) => {
    const open = (...frames: unknown[]) => {
      const client = new TestClient(origin, {
        onOpen: () => {
          for (const frame of frames) client.send(frame)
        },
      })
      t.teardown(() => client.close())
      return client
    }
    const auth = (claims: object) => ({ t: 'auth', token: token({ ...claims }) })
    const welcome = open(auth({ sub: '2' }), { t: 'sub', i: 'a', ch: 'one-to-room:R1' })
    t.match(await welcome.waitForFrame('ready'), { user_id: 2 })
    t.match(await welcome.waitForFrame('subbed'), { i: 'a', ch: 'one-to-room:R1' })
    const rows: readonly (readonly [string, unknown[], number])[] = [
      ['another frame first', [{ t: 'ping' }, auth({ sub: '1' })], 4001],
      ['invalid JSON', ['{'], 4001],
      ['an invalid token', [{ t: 'auth', token: 'x' }], 4001],
      ['an unknown user', [auth({ sub: '99' })], 4001],
      ['an expired token', [auth({ sub: '1', exp: nowSeconds() - 1 })], 4202],
      ['a token of staff', [auth({ sub: 'ann', role: 'operator' })], 4003],
    ]
    for (const [what, frames, code] of rows) {
      const client = open(...frames)
      t.equal(await client.waitForClose(), code, what)
      t.same(client.frames, [], what)
    }
  })

  await all.test('tokens are renewed, expire and are revoked on open sockets', async (t) => {
    const foreign = await connectAs(t, origin, 1)
    const early = await connectAs(t, origin, 2, { iat: nowSeconds() - 60 })
    const broken = await connectAs(t, origin, 3)
    foreign.send({ t: 'refresh', token: token({ sub: '2' }) })
    t.equal(await foreign.waitForClose(), 4003)
    broken.send({ t: 'refresh', token: 'x' })
    t.equal(await broken.waitForClose(), 4001)
    await runVerb(instance, revokeSessions, { user_id: 2 })
    t.equal(await early.waitForClose(), 4001)
    const late = await connectAs(t, origin, 2, { iat: nowSeconds() + 1 })
    // Both expire soon, and one is renewed at once. A machine that stands still for so long is given more time.
    const renewBefore = async (seconds: number): Promise<readonly [TestClient, TestClient, number]> => {
      const [over, renewed] = [await connectAs(t, origin, 1), await connectAs(t, origin, 1)]
      const exp = nowSeconds() + seconds
      over.send({ t: 'refresh', token: token({ sub: '1', exp }) })
      renewed.send({ t: 'refresh', i: 4, token: token({ sub: '1', exp }) })
      renewed.send({ t: 'refresh', i: 5, token: token({ sub: '1' }) })
      const answer = await renewed.waitFor(({ code, frames }) => code ?? frames.find((frame) => frame['i'] === 5))
      return answer === 4202 && seconds < 30 ? renewBefore(2 * seconds) : [over, renewed, exp]
    }
    const [over, renewed, exp] = await renewBefore(2)
    t.match(await renewed.waitForFrame('refreshed', 5), { i: 5 })
    t.equal(await over.waitForClose(), 4202)
    t.ok(nowSeconds() >= exp)
    for (const client of [renewed, late]) {
      client.send({ t: 'ping', i: 1 })
      t.match(await client.waitForFrame('pong', 1), {})
    }
  })
})

test('a client that sends nothing is closed', async (t) => {
  const { origin } = await live(t, { times: { ...quick, auth: 100 } })
  const client = new TestClient(origin, {})
  t.equal(await client.waitForClose(), 4001)
  t.same(client.frames, [])
})

test('when maintenance or a forced update begins, sockets get the app status and are closed', async (t) => {
  let closed: ClosedState | undefined
  let changed = (): void => {}
  const judge = ({ type }: { readonly type: string | null }) => (type === 'old' ? closed : undefined)
  const onChange = (listener: () => void) => {
    changed = listener
    return () => {}
  }
  const shownBy: typeof alwaysOpen.hintsOf = ({ headers }) => ({
    type: headers['client-type'] === 'old' ? 'old' : null,
    version: null,
    language: 'en',
  })
  const instance = await live(t, { appState: { ...alwaysOpen, check: judge, onChange, hintsOf: shownBy } })
  const headers = { 'client-type': 'old', ...bearer(token({ sub: '1' })) }
  for (const [state, code] of [
    [maintenance, 4103],
    [{ ...maintenance, status: 426 as const }, 4026],
  ] as const) {
    closed = undefined
    const known = new TestClient(instance.origin, { headers })
    await known.waitForFrame('ready')
    const unknown = new TestClient(instance.origin, { headers: { 'client-type': 'old' } })
    await until(() => unknown.isOpen)
    const other = await connectAs(t, instance.origin, 2)
    // Subscribes while it begins.
    known.send({ t: 'sub', ch: 'one-to-room:R1', since: '0' })
    await postToRoom(instance, 1)
    closed = state
    changed()
    const late = new TestClient(instance.origin, { headers })
    for (const client of [known, unknown, late]) {
      t.equal(await client.waitForClose(), code)
      t.same(client.frames.at(-1), { t: 'ev', ch: 'global', event: 'app-status', data: maintenance.body })
    }
    other.send({ t: 'ping' })
    await other.waitForFrame('pong')
    t.equal(other.code, undefined)
  }
})
