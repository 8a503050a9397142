import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import websocket from '@fastify/websocket'
import { type FastifyInstance, fastify } from 'fastify'
import { test } from 'tap'
import { errorCode } from '../../src/config/error-code.ts'
import { isSocketUpgrade } from '../../src/http/paths.ts'
import { currentResponse } from '../../src/http/server-options.ts'
import { KEEP_ALIVE_NOTICE_MS, listen } from '../../src/startup/listen.ts'
import { until } from '../harness/until.ts'

const HOST = '127.0.0.1'

interface Test {
  teardown(work: () => Promise<void>): void
}

async function listening(t: Test) {
  const app = fastify({ http: { shouldUpgradeCallback: isSocketUpgrade }, return503OnClosing: false })
  await app.register(websocket)
  await app.register(async (routes: FastifyInstance) => {
    routes.get('/ws', { websocket: true }, (ws, { raw }) => {
      // As the service does with its sockets.
      currentResponse(raw.socket)?.detachSocket(raw.socket)
      ws.send('{"t":"hello"}')
    })
    routes.get('/slow', async () => {
      await sleep(300)
      return 'slow'
    })
    routes.get('/', async () => 'here')
  })
  const held = Promise.withResolvers<void>()
  app.get('/held', () => held.promise.then(() => 'held'))
  const cleanUp = new AsyncDisposableStack()
  const port = await listen(app, { host: HOST, port: 0 }, cleanUp)
  const stop = (): Promise<void> => cleanUp.disposeAsync()
  t.teardown(stop)
  return { app, port, stop, release: held.resolve }
}

/** The status of an answer, or the code of the error. */
function ask(port: number, path = '/'): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    get({ host: HOST, port, path, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
      response.on('error', (error) => resolve(errorCode(error)))
    }).on('error', (error) => resolve(errorCode(error)))
  })
}

test('several connections are accepted in a turn of the event loop', async (t) => {
  const { app, port } = await listening(t)
  let accepted = 0
  app.server.on('connection', () => (accepted += 1))
  const sockets = Array.from({ length: 200 }, () => connect(port, HOST))
  let most = 0
  for (let before = 0; accepted < sockets.length; before = accepted) {
    await nextTurn()
    most = Math.max(most, accepted - before)
  }
  t.ok(most > 1, `${most} in a turn`)
  for (const socket of sockets) socket.destroy()
})

test('a port that another instance shares among its listening sockets is in use', async (t) => {
  const { port } = await listening(t)
  await using cleanUp = new AsyncDisposableStack()
  await t.rejects(listen(fastify(), { host: HOST, port }, cleanUp), {
    message: `Cannot listen on 127.0.0.1 port ${port}: the port is in use; set PORT to another one.`,
  })
})

/** A connection, and all that it received. */
function openConnection(port: number) {
  const socket = connect(port, HOST)
  const connection = { socket, text: '', error: undefined as unknown, hasEnded: false }
  socket.on('data', (chunk) => (connection.text += chunk.toString('latin1')))
  socket.on('error', (error) => (connection.error = errorCode(error)))
  socket.on('close', () => (connection.hasEnded = true))
  return connection
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const UPGRADE = [
  'GET /ws HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n')

test('a stop answers all that are connected, accepted or not, and what kept connections have sent', async (t) => {
  const { port, stop } = await listening(t)
  const kept = Array.from({ length: 20 }, () => openConnection(port))
  for (const { socket } of kept) socket.write(REQUEST)
  await until(() => kept.every(({ text }) => text.endsWith('here')))
  for (const connection of kept) connection.text = ''
  const slow = ask(port, '/slow')
  const waiting = Array.from({ length: 60 }, () => openConnection(port))
  await Promise.all(waiting.map(({ socket }) => once(socket, 'connect')))
  for (const { socket } of waiting) socket.write(REQUEST)
  const stopped = stop()
  // When the event loop is busy, the time to close idle connections comes before it has read what they sent.
  await sleep(KEEP_ALIVE_NOTICE_MS / 2)
  for (const { socket } of kept) socket.write(REQUEST)
  for (const end = performance.now() + 2 * KEEP_ALIVE_NOTICE_MS; performance.now() < end; ) continue
  await stopped
  t.equal(await slow, 200)
  await until(() => [...kept, ...waiting].every(({ hasEnded }) => hasEnded))
  for (const connections of [kept, waiting]) {
    t.same(new Set(connections.map(({ error }) => error)), new Set([undefined]))
    t.ok(connections.every(({ text }) => /^HTTP\/1.1 200 OK\r\n.*connection: close.*here$/is.test(text)))
  }
  t.equal(await ask(port), 'ECONNREFUSED')
})

test('an upgrade in the segment of an earlier request leaves no connection open', async (t) => {
  const { port, stop } = await listening(t)
  const connections = Array.from({ length: 40 }, () => openConnection(port))
  for (const { socket } of connections) socket.write(REQUEST + UPGRADE)
  await until(() => connections.every(({ text }) => text.match(/HTTP\/1.1 (200|404)/g)?.length === 2))
  for (const { socket } of connections) socket.end()
  await until(() => connections.every(({ hasEnded }) => hasEnded))
  await t.resolves(stop())
})

test('a stop waits for requests in hand, and hardly for connections that have sent none', async (t) => {
  const { app, port, stop, release } = await listening(t)
  const held = openConnection(port)
  held.socket.write(REQUEST.replace('/', '/held'))
  await once(app.server, 'request')
  const webSocket = openConnection(port)
  webSocket.socket.write(UPGRADE)
  await until(() => webSocket.text.includes('hello'))
  const unused = Array.from({ length: 40 }, () => openConnection(port))
  await Promise.all(unused.map(({ socket }) => once(socket, 'connect')))
  for (const [i, { socket }] of unused.entries()) if (i % 2 === 0) socket.write(REQUEST.slice(0, -2))
  const stopped = stop()
  await until(() => unused.every(({ hasEnded }) => hasEnded))
  t.notOk(held.hasEnded)
  t.notOk(webSocket.hasEnded, 'its client may answer the close')
  release()
  await until(() => held.hasEnded)
  t.match(held.text, /^HTTP\/1.1 200 OK\r\n.*held$/s)
  webSocket.socket.destroy()
  await stopped
})
