import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { bearer, token } from '../harness/app/minimal-app.ts'
import { chatSlices, createRooms, postToRoom, postToUser } from '../harness/app/realtime-fixtures.ts'
import {
  connectAs,
  type InstanceOptions,
  startInstance,
  TestClient,
  type TestInstance,
} from '../harness/app/realtime-instance.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

async function live(t: Test, rooms: number, wishes: InstanceOptions = {}): Promise<TestInstance> {
  const database = await testDatabase()
  await createRooms(database, rooms, 12)
  return startInstance(t, database, chatSlices, wishes)
}

test('each client frame gets its answer', async (t) => {
  const { origin } = await live(t, 52)
  const client = await connectAs(t, origin, 1)
  const rows: readonly (readonly [object, object])[] = [
    [{ t: 'ping' }, { t: 'pong' }],
    [
      { t: 'sub', ch: 'one-to-room:R1' },
      { t: 'subbed', ch: 'one-to-room:R1', resumed: true },
    ],
    [
      { t: 'sub', ch: 'one-to-room:R1' },
      { t: 'subbed', ch: 'one-to-room:R1', resumed: true },
    ],
    [{ t: 'dance' }, { t: 'err', code: 'bad_frame' }],
    [
      { t: 'sub', ch: 'one-to-room:R1', since: 12 },
      { t: 'err', code: 'bad_frame' },
    ],
    [
      { t: 'sub', ch: 'one-to-room:nowhere' },
      { t: 'err', code: 'not_room_member' },
    ],
    [
      { t: 'sub', ch: 'one-to-room:' },
      { t: 'err', code: 'unknown_channel' },
    ],
    [
      { t: 'sub', ch: 'R1' },
      { t: 'err', code: 'unknown_channel' },
    ],
    [
      { t: 'sub', ch: 'user:1' },
      { t: 'subbed', ch: 'user:1' },
    ],
    [
      { t: 'sub', ch: 'user:2' },
      { t: 'err', code: 'forbidden' },
    ],
    [
      { t: 'sub', ch: 'user:01' },
      { t: 'err', code: 'forbidden' },
    ],
    [
      { t: 'sub', ch: 'global', since: '0' },
      { t: 'subbed', ch: 'global', resumed: true },
    ],
    [
      { t: 'sub', ch: 'one-to-room:R1', since: '999999' },
      { t: 'subbed', resumed: true },
    ],
    [
      { t: 'sub', ch: 'one-to-room:R2', since: '999999' },
      { t: 'subbed', resumed: false },
    ],
    [
      { t: 'unsub', ch: 'one-to-room:R1' },
      { t: 'unsubbed', ch: 'one-to-room:R1' },
    ],
    [
      { t: 'unsub', ch: 'one-to-room:R1' },
      { t: 'unsubbed', ch: 'one-to-room:R1' },
    ],
  ]
  for (const [i, [frame, answer]] of rows.entries()) {
    client.send({ i, ...frame })
    t.match(await client.waitFor(({ frames }) => frames.find((f) => f['i'] === i)), answer, JSON.stringify(frame))
  }
  const outsider = await connectAs(t, origin, 12, {})
  outsider.send({ t: 'sub', i: 1, ch: 'one-to-room:R53' })
  t.match(await outsider.waitForFrame('err', 1), { code: 'not_room_member' })
})

test('invalid frames are answered with err, and too many or too large ones close the socket', async (t) => {
  const { origin, metrics } = await live(t, 1)
  const bad = [
    '',
    '{',
    'null',
    '[]',
    '"ping"',
    '{}',
    '{"t":"dance"}',
    '{"t":"sub"}',
    '{"t":"sub","ch":"one-to-room:R1","since":12}',
    `{"t":"sub","ch":"${'x'.repeat(201)}"}`,
  ]
  const client = await connectAs(t, origin, 1)
  for (const frame of bad.slice(0, 9)) client.send(frame)
  await client.waitFor(({ frames }) =>
    frames.filter(({ code }) => code === 'bad_frame').length === 9 ? true : undefined,
  )
  client.send({ t: 'ping' })
  await client.waitForFrame('pong')
  client.send(bad[9])
  t.equal(await client.waitForClose(), 4004)

  for (const [what, send] of [
    ['too large', (c: TestClient) => c.send({ t: 'ping', more: 'x'.repeat(8_192) })],
    ['far too large', (c: TestClient) => c.ws.send('x'.repeat(1_000_000))],
    ['no text', (c: TestClient) => c.ws.send(Buffer.from([0xff, 0xfe]), { binary: false })],
  ] as const) {
    const other = await connectAs(t, origin, 1)
    send(other)
    t.equal(await other.waitForClose(), 4004, what)
  }
  t.match(await metrics.registry.metrics(), 'live_closes_total{code="4004"} 4\n')
  const binary = await connectAs(t, origin, 1)
  binary.ws.send(Buffer.from('{"t":"ping"}'))
  t.match(await binary.waitForFrame('err'), { code: 'bad_frame' })
  const large = await connectAs(t, origin, 1)
  large.send(`{"t":"ping"${' '.repeat(8_192 - 12)}}`)
  await large.waitForFrame('pong')
})

test('limits of frames per second, rooms per socket and sockets per user', async (t) => {
  const { origin } = await live(t, 52)
  const fast = await connectAs(t, origin, 1)
  for (let i = 0; i < 21; i += 1) fast.send({ t: 'ping' })
  t.equal(await fast.waitForClose(), 4108)

  const pinging = await connectAs(t, origin, 1)
  for (let i = 0; i < 30; i += 1) pinging.ws.ping()
  t.equal(await pinging.waitForClose(), 4108)

  const curious = await connectAs(t, origin, 2)
  for (let room = 1; room <= 51; room += 1) {
    curious.send({ t: 'sub', i: room, ch: `one-to-room:R${room}` })
    if (room % 18 === 0) await pause(1_050)
  }
  t.match(await curious.waitForFrame('err', 51), { code: 'too_many_channels' })
  t.match(await curious.waitForFrame('subbed', 50), {})
  curious.send({ t: 'unsub', ch: 'one-to-room:R7' })
  curious.send({ t: 'sub', i: 52, ch: 'one-to-room:R52' })
  t.match(await curious.waitForFrame('subbed', 52), {})

  const first = await connectAs(t, origin, 3)
  const others = await Promise.all(Array.from({ length: 9 }, () => connectAs(t, origin, 3)))
  t.equal(first.code, undefined)
  await connectAs(t, origin, 3)
  t.equal(await first.waitForClose(), 4009)
  for (const other of others) t.equal(other.code, undefined)
})

test('heartbeats are sent, and a client that does not answer them is closed', async (t) => {
  const instance = await live(t, 1, { times: { heartbeat: 80, auth: 1_000, sweep: 10 } })
  const silent = new TestClient(instance.origin, { headers: bearer(token({ sub: '1' })), answersPings: false })
  const lively = await connectAs(t, instance.origin, 2)
  t.equal(await silent.waitForClose(), 4201)
  t.equal(silent.frames.filter(({ t: type }) => type === 'hb').length, 2)
  await pause(200)
  t.equal(lively.code, undefined)
  t.ok(lively.frames.filter(({ t: type }) => type === 'hb').length >= 3)
})

test('a client that does not read is closed, delays no other client and may resume', async (t) => {
  const instance = await live(t, 1)
  const slow = await connectAs(t, instance.origin, 1)
  const other = await connectAs(t, instance.origin, 2)
  for (const client of [slow, other]) client.send({ t: 'sub', ch: 'one-to-room:R1' })
  await Promise.all([slow.waitForFrame('subbed'), other.waitForFrame('subbed')])
  slow.ws.pause()
  let posted = 0
  const metric = async () => (await instance.metrics.registry.metrics()).includes('live_closes_total{code="4101"} 1')
  while (!(await metric()) && posted < 2_000) {
    await Promise.all(Array.from({ length: 5 }, () => postToRoom(instance, 1, 3_000_000 + (posted += 1))))
  }
  await other.waitFor(
    (c) => (c.eventsOf('one-to-room:R1').length === 2 * posted ? true : undefined),
    'all that was posted',
  )
  slow.ws.resume()
  t.equal(await slow.waitForClose(), 4101)
  const received = slow.eventsOf('one-to-room:R1')
  t.ok(received.length < 2 * posted)
  const positions = await Promise.all(Array.from({ length: 1_001 }, (_, n) => postToRoom(instance, 1, n + 1)))
  const last = Math.max(...positions)
  const again = await connectAs(t, instance.origin, 1)
  again.send({ t: 'sub', ch: 'one-to-room:R1', since: String(last - 501) })
  await again.waitFor((c) => c.eventsOf('one-to-room:R1').at(500))
  again.send({ t: 'sub', i: 2, ch: 'user:1', since: '0' })
  t.match(await again.waitForFrame('subbed', 2), { resumed: true })
  const lost = await connectAs(t, instance.origin, 1)
  lost.send({ t: 'sub', ch: 'one-to-room:R1', since: String(last - 1_001) })
  t.match(await lost.waitForFrame('subbed'), { resumed: false, position: String(last) })
  const whole = await connectAs(t, instance.origin, 1)
  whole.send({ t: 'sub', ch: 'one-to-room:R1', since: String(last - 1_000) })
  t.match(await whole.waitForFrame('subbed'), { resumed: true })
  await whole.waitFor((c) => c.eventsOf('one-to-room:R1').at(999))
  t.equal(await postToUser(instance, 1), last + 1)
  await whole.waitFor((c) => c.eventsOf('user:1').at(0))
})

test('a client with a long replay is not closed as too slow', async (t) => {
  const instance = await live(t, 1)
  const first = await postToRoom(instance, 1)
  for (let i = 0; i < 20; i += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => postToRoom(instance, 1, 3_000_001 + n)))
  }
  // Eight megabytes: much of it is not taken at once by the kernel either.
  const client = await connectAs(t, instance.origin, 1)
  client.send({ t: 'sub', ch: 'one-to-room:R1', since: String(first) })
  await client.waitFor((c) => c.eventsOf('one-to-room:R1').at(399), 'all of it')
  client.send({ t: 'ping' })
  t.ok(await client.waitForFrame('pong'))
})

test('an instance that stops sends a shutdown notice', async (t) => {
  const instance = await live(t, 1)
  const clients = await Promise.all([1, 2, 3, 4].map((id) => connectAs(t, instance.origin, id)))
  const silent = await connectAs(t, instance.origin, 5)
  silent.ws.pause()
  await instance.stop()
  const byes = clients.map(({ frames }) => frames.find((frame) => frame.t === 'bye'))
  for (const bye of byes) t.match(bye, { code: 4200, retry_ms: Number })
  t.ok(new Set(byes.map((bye) => bye?.['retry_ms'])).size > 1)
  for (const client of clients) t.equal(await client.waitForClose(), 4200)
})

test('errors come in the language of the upgrade', async (t) => {
  const { origin } = await live(t, 1)
  const headers = { authorization: `Bearer ${token({ sub: '1' })}` }
  const clients = [
    new TestClient(origin, { path: '/ws?lang=ar', headers }),
    new TestClient(origin, { headers: { ...headers, 'accept-language': 'fr, ar;q=0.5' } }),
    new TestClient(origin, { headers }),
  ]
  t.teardown(() => Promise.all(clients.map((client) => client.close())))
  const errors = clients.map(async (client) => {
    await client.waitForFrame('ready')
    client.send({ t: 'sub', i: 1, ch: 'user:2' })
    return client.waitForFrame('err', 1)
  })
  t.match(await Promise.all(errors), [
    { code: 'forbidden', message: 'هذه قناة مستخدم آخر.' },
    { code: 'forbidden', message: 'هذه قناة مستخدم آخر.' },
    { code: 'forbidden', message: 'This is the channel of another user.' },
  ])
})
