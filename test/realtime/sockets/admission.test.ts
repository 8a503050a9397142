import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'tap'
import { ReturnTimes } from '../../../src/realtime/sockets/connection-registry.ts'
import { token } from '../../harness/app/minimal-app.ts'
import { chatSlices, createRooms } from '../../harness/app/realtime-fixtures.ts'
import { startInstance, TestClient } from '../../harness/app/realtime-instance.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'
import { upgradeRequest } from '../../harness/websocket/raw-frames.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'

test('those who are refused come back one by one, and so do those whom a stop sends away', async (t) => {
  const times = new ReturnTimes(2)
  t.equal(times.perSecond, 600)
  const waits = Array.from({ length: 6_000 }, () => times.next(50_000))
  t.equal(waits[0], 1_002)
  t.equal(waits[599], 2_000)
  t.equal(waits[5_999], 11_000)
  t.equal(times.next(60_000), 1_002, 'all of them are back')

  const spread = (count: number): readonly number[] => {
    const many = Array.from({ length: 2_000 }, () => times.oneOf(count)).toSorted((a, b) => a - b)
    return [many.at(0) ?? -1, many.at(1_000) ?? -1, many.at(-1) ?? -1]
  }
  for (const [count, longest] of [
    [1, 1_000],
    [12_000, 20_000],
    [50_000, 83_333],
  ] as const) {
    const [first = 0, middle = 0, last = 0] = spread(count)
    t.ok(first >= 0 && first < longest / 50, `${count}: the first after ${first} ms`)
    t.ok(middle > longest * 0.4 && middle < longest * 0.6, `half after ${middle} ms`)
    t.ok(last > longest * 0.98 && last < longest, `the last after ${last} ms`)
  }
})

test('a flood of upgrades sends nobody away for longer than all sockets of an instance need', async (t) => {
  const times = new ReturnTimes(1)
  const longest = 1_000 + (50_000 / 300) * 1_000
  const waits = Array.from({ length: 200_000 }, () => times.next(0))
  t.ok(waits.every((wait) => wait >= 1_000 && wait <= Math.ceil(longest)))
  t.ok(waits[49_000] === Math.ceil(1_000 + (49_001 / 300) * 1_000), 'as long as there is room, one by one')
  const beyond = waits.slice(50_000).toSorted((a, b) => a - b)
  const median = beyond[beyond.length / 2] ?? 0
  t.ok(median > longest * 0.48 && median < longest * 0.52, `then spread: half within ${median} ms`)
})

/** Many more than are opened in one turn of the event loop, and ten that may wait. */
const SOCKETS = 300

test('clients who come all at once are told when to come back, and get in then', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 1, 1)
  const returnTimes = new ReturnTimes(1 / 30)
  t.equal(returnTimes.perSecond, 10)
  const { origin, metrics, log } = await startInstance(t, database, chatSlices, { returnTimes })
  const port = Number(new URL(origin).port)
  const sockets = Array.from({ length: SOCKETS }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const answers = sockets.map((socket) => {
    const answer = { text: '', hasEnded: false }
    socket.on('data', (chunk) => (answer.text += chunk.toString('latin1')))
    socket.on('end', () => (answer.hasEnded = true))
    return answer
  })
  // An answer shows that the service has accepted the connection; it then reads all of them in one turn.
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => answers.every(({ text }) => text.includes('200 OK')))
  for (const answer of answers) answer.text = ''
  const sentAt = performance.now()
  for (const socket of sockets) socket.write(upgradeRequest(port, '/ws', token({ sub: '1' })))
  await until(() => answers.every(({ text, hasEnded }) => text.includes('"bye"') === hasEnded && text !== ''))
  const tookMs = performance.now() - sentAt
  const refused = answers.filter(({ text }) => text.includes('"bye"'))
  t.ok(refused.length > 0 && refused.length < SOCKETS - 10, `${refused.length} of ${SOCKETS} are refused`)
  const waits = refused.map(({ text }) => Number(/\{"t":"bye","code":4100,"retry_ms":(\d+)\}/.exec(text)?.[1]))
  const [shortest = 0, ...others] = waits.toSorted((a, b) => a - b)
  // Its second and its tenth of one, of which a fraction of a millisecond may be rounded up.
  t.ok([1_100, 1_101].includes(shortest), `the first after ${shortest} ms`)
  // Each is told a time a tenth of a second after that of the one before, some of which may have passed by then.
  const early = others.map((wait, i) => shortest + 100 * (i + 1) - wait)
  t.ok(Math.min(0, ...early) >= -1 && Math.max(0, ...early) <= tookMs + 1, `${early.join()} ms early`)
  for (const { text, hasEnded } of refused) {
    t.ok(hasEnded)
    t.match(text, 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n')
    t.ok(text.endsWith('\x88\x02\x10\x04'), '4100')
  }
  t.match(await metrics.registry.metrics(), `http_refusals_total{reason="sockets"} ${refused.length}`)
  for (const socket of sockets) socket.destroy()

  const client = new TestClient(origin, { headers: { authorization: `Bearer ${token({ sub: '1' })}` } })
  await client.waitForFrame('ready')
  client.send({ t: 'ping', i: 1 })
  t.match(await client.waitForFrame('pong', 1), { i: 1 })
  await client.close()
  t.same(log, [])
})

test('refused clients', async (all) => {
  const { origin } = await startInstance(all, await testDatabase(), chatSlices, { returnTimes: new ReturnTimes(0) })
  const port = Number(new URL(origin).port)

  await all.test('one that continues to send is cut', async (t) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let isCut = false
    socket.on('error', () => {})
    socket.on('close', () => (isCut = true))
    socket.write(upgradeRequest(port, '/ws', 'x'))
    await once(socket.resume(), 'end')
    const sending = setInterval(() => socket.write('x'), 50)
    t.teardown(() => {
      clearInterval(sending)
      socket.destroy()
    })
    await until(() => isCut)
    t.ok(isCut)
  })

  await all.test('one closes in order, and an invalid upgrade gets its error all the same', async (t) => {
    // No TestClient: that nobody may ever come back has no number of milliseconds.
    const client = new WebSocketClient(origin, { keepsFrames: true })
    t.equal(await client.waitForClose(), 4100)
    t.match(client.frames, [{ t: 'bye', code: 4100 }])
    for (const [status, options] of [
      [400, { path: '/ws?token=x' }],
      [403, { headers: { origin: 'https://elsewhere.test' } }],
    ] as const) {
      const invalid = new TestClient(origin, options)
      t.match(await invalid.waitFor((c) => c.rejection), { status })
    }
  })
})
