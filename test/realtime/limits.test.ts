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
import { until } from '../harness/until.ts'

async function live(t: Test, rooms: number, wishes: InstanceOptions = {}): Promise<TestInstance> {
  const database = await testDatabase()
  await createRooms(database, rooms, 12)
  return startInstance(t, database, chatSlices, wishes)
}

const room = (n: number): string => `one-to-room:R${n}`

const closes = async ({ metrics }: TestInstance, code: number): Promise<number> => {
  const text = await metrics.registry.metrics()
  return Number(new RegExp(`^live_closes_total\\{code="${code}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

test('the frames of a client, and its limits', async (all) => {
  const instance = await live(all, 55)
  const { origin } = instance

  await all.test('each client frame gets its answer', async (t) => {
    const client = await connectAs(t, origin, 1)
    const subbed = (ch: string, resumed = true) => ({ t: 'subbed', ch, resumed })
    const err = (code: string) => ({ t: 'err', code })
    const unsub = { t: 'unsub', ch: room(1) }
    const sub = (ch: string, since?: unknown) => ({ t: 'sub', ch, ...(since !== undefined && { since }) })
    const rows: readonly (readonly [object, object])[] = [
      [{ t: 'ping' }, { t: 'pong' }],
      [sub(room(1)), subbed(room(1))],
      [sub(room(1)), subbed(room(1))],
      [{ t: 'dance' }, err('bad_frame')],
      [sub(room(1), 12), { ...err('bad_frame'), ch: room(1) }],
      [sub('one-to-room:nowhere'), err('not_room_member')],
      [sub(room(56)), err('not_room_member')],
      [sub('one-to-room:'), err('unknown_channel')],
      [sub('R1'), err('unknown_channel')],
      [sub('user:1'), subbed('user:1')],
      [sub('user:2'), err('forbidden')],
      [sub('user:01'), err('forbidden')],
      [sub('global', '0'), subbed('global')],
      [sub(room(1), '999999'), subbed(room(1))],
      [sub(room(2), '999999'), subbed(room(2), false)],
      [unsub, { t: 'unsubbed', ch: room(1) }],
      [unsub, { t: 'unsubbed', ch: room(1) }],
    ]
    for (const [i, [frame, answer]] of rows.entries()) {
      client.send({ i, ...frame })
      t.match(await client.waitFor(({ frames }) => frames.find((f) => f['i'] === i)), answer, JSON.stringify(frame))
    }
    client.send({ t: 'unsub', i: 90, ch: 'not a channel' })
    t.notOk('ch' in (await client.waitForFrame('err', 90)))
  })

  await all.test('invalid frames are answered with err, and too many or too large ones close the socket', async (t) => {
    const bad = ['', '{', 'null', '[]', '"ping"', '{}', '{"t":"dance"}', '{"t":"sub"}']
    bad.push(`{"t":"sub","ch":"${room(1)}","since":12}`, `{"t":"sub","ch":"${'x'.repeat(201)}"}`)
    const client = await connectAs(t, origin, 1)
    for (const frame of bad.slice(0, 9)) client.send(frame)
    client.send({ t: 'ping' })
    await client.waitForFrame('pong')
    t.equal(client.frames.filter(({ code }) => code === 'bad_frame').length, 9)
    client.send(bad[9])
    t.equal(await client.waitForClose(), 4004)

    for (const [what, send] of [
      ['too large', (c: TestClient) => c.send({ t: 'ping', more: 'x'.repeat(8_192) })],
      ['far too large', (c: TestClient) => c.send('x'.repeat(1_000_000))],
      ['no text', (c: TestClient) => c.ws.send(Buffer.from([0xff, 0xfe]), { binary: false })],
    ] as const) {
      const other = await connectAs(t, origin, 1)
      send(other)
      t.equal(await other.waitForClose(), 4004, what)
    }
    t.equal(await closes(instance, 4004), 4)
    const last = await connectAs(t, origin, 1)
    last.ws.send(Buffer.from('{"t":"ping"}'))
    t.match(await last.waitForFrame('err'), { code: 'bad_frame' })
    last.send(`{"t":"ping"${' '.repeat(8_192 - 12)}}`)
    await last.waitForFrame('pong')
  })

  await all.test('limits of frames per second, rooms per socket and sockets per user', async (t) => {
    const fast = await connectAs(t, origin, 1)
    for (let i = 0; i < 21; i += 1) fast.send({ t: 'ping' })
    t.equal(await fast.waitForClose(), 4108)
    const pinging = await connectAs(t, origin, 1)
    for (let i = 0; i < 30; i += 1) pinging.ws.ping()
    t.equal(await pinging.waitForClose(), 4108)

    const curious = await connectAs(t, origin, 2)
    curious.send({ t: 'sub', i: 50, chs: Array.from({ length: 50 }, (_, n) => ({ ch: room(n + 1) })) })
    await curious.waitFor((c) => c.frames.filter((frame) => frame.t === 'subbed').at(49))
    curious.send({ t: 'sub', i: 51, ch: room(51) })
    t.match(await curious.waitForFrame('err', 51), { code: 'too_many_channels' })
    // A room has two names: its uid, and its id.
    curious.send({ t: 'unsub', i: 52, ch: 'one-to-room:7' })
    t.match(await curious.waitForFrame('unsubbed', 52), { ch: 'one-to-room:7' })
    curious.send({ t: 'sub', i: 53, ch: room(51) })
    t.match(await curious.waitForFrame('subbed', 53), {})
    curious.send({ t: 'sub', ch: 'one-to-room:8' })
    curious.send({ t: 'unsub', ch: room(8) })
    curious.send({ t: 'sub', i: 54, ch: room(52) })
    t.match(await curious.waitForFrame('subbed', 54), {})

    const first = await connectAs(t, origin, 3)
    const others = await Promise.all(Array.from({ length: 9 }, () => connectAs(t, origin, 3)))
    t.equal(first.code, undefined)
    others.push(await connectAs(t, origin, 3))
    t.equal(await first.waitForClose(), 4009)
    t.ok(others.every(({ code }) => code === undefined))
  })

  await all.test('errors come in the language of the upgrade', async (t) => {
    const headers = bearer(token({ sub: '1' }))
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
    const arabic = 'هذه قناة مستخدم آخر.'
    t.match(
      (await Promise.all(errors)).map(({ code, message }) => [code, message]),
      [arabic, arabic, 'This is the channel of another user.'].map((message) => ['forbidden', message]),
    )
  })

  await all.test('a client that does not read is closed, delays no other client and may resume', async (t) => {
    const ch = room(53)
    const slow = await connectAs(t, origin, 4)
    const other = await connectAs(t, origin, 5)
    for (const client of [slow, other]) client.send({ t: 'sub', ch })
    await Promise.all([slow.waitForFrame('subbed'), other.waitForFrame('subbed')])
    slow.ws.pause()
    let posted = 0
    while ((await closes(instance, 4101)) === 0 && posted < 2_000) {
      await Promise.all(Array.from({ length: 5 }, () => postToRoom(instance, 53, 3_000_000 + (posted += 1))))
      // It runs in the same process, and must not become slow with the load of its neighbour.
      await other.waitFor((c) => (c.eventsOf(ch).length === 2 * posted ? true : undefined), 'all that was posted')
    }
    await postToRoom(instance, 53, 3_000_000 + (posted += 1))
    slow.ws.resume()
    t.equal(await slow.waitForClose(), 4101)
    t.ok(slow.eventsOf(ch).length < 2 * posted)
    const positions = await Promise.all(Array.from({ length: 1_001 }, (_, n) => postToRoom(instance, 53, n + 1)))
    const last = Math.max(...positions)
    const back = await connectAs(t, origin, 4)
    back.send({ t: 'sub', ch, since: String(last - 1_000) })
    t.match(await back.waitForFrame('subbed'), { resumed: true })
    await back.waitFor((c) => c.eventsOf(ch).at(999))
    back.send({ t: 'sub', i: 2, ch: 'user:4', since: '0' })
    t.match(await back.waitForFrame('subbed', 2), { resumed: true })
    const lost = await connectAs(t, origin, 4)
    lost.send({ t: 'sub', ch, since: String(last - 1_001) })
    t.match(await lost.waitForFrame('subbed'), { resumed: false, position: String(last) })
    t.equal(await postToUser(instance, 4), last + 1)
    await back.waitFor((c) => c.eventsOf('user:4').at(0))
  })

  await all.test('a client with a long backlog is not closed as too slow', async (t) => {
    const first = await postToRoom(instance, 54)
    for (let i = 0; i < 20; i += 1) {
      await Promise.all(Array.from({ length: 10 }, (_, n) => postToRoom(instance, 54, 3_000_001 + n)))
    }
    // Eight megabytes: much of it is not taken at once by the kernel either.
    const client = await connectAs(t, origin, 6)
    client.send({ t: 'sub', ch: room(54), since: String(first) })
    await client.waitFor((c) => c.eventsOf(room(54)).at(399), 'all of it')
    client.send({ t: 'ping' })
    t.ok(await client.waitForFrame('pong'))
  })

  await all.test('50 channels with the longest names fit into one frame, which counts as one', async (t) => {
    const client = await connectAs(t, origin, 7)
    const chs = Array.from({ length: 50 }, (_, n) => ({
      ch: `one-to-room:${String(n).padStart(64, 'R')}`,
      since: '9007199254740991',
    }))
    for (let i = 0; i < 18; i += 1) client.send({ t: 'sub', i, chs })
    client.send({ t: 'ping' })
    await client.waitForFrame('pong')
    t.equal(client.frames.filter((frame) => frame['i'] === 17).length, 50)
    t.equal(client.code, undefined)
  })
})

test('heartbeats are sent, and a client that does not answer them is closed', async (t) => {
  const instance = await live(t, 1, { times: { heartbeat: 300, auth: 60_000, sweep: 10 } })
  const silent = new TestClient(instance.origin, { headers: bearer(token({ sub: '1' })), answersPings: false })
  const lively = await connectAs(t, instance.origin, 2)
  const heartbeats = ({ frames }: TestClient) => frames.filter((frame) => frame.t === 'hb')
  t.equal(await silent.waitForClose(), 4201)
  t.equal(heartbeats(silent).length, 2)
  await lively.waitFor((client) => heartbeats(client).at(3))
  t.equal(lively.code, undefined)
})

test('a session is renewed while the client has much to read', async (t) => {
  const instance = await live(t, 2)
  const first = await postToRoom(instance, 1)
  // Sixteen megabytes: more than a system takes for a client that does not read.
  for (let i = 0; i < 20; i += 1) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => postToRoom(instance, 1 + (n % 2), 3_000_001 + n)))
  }
  const client = await connectAs(t, instance.origin, 1)
  client.ws.pause()
  client.send({ t: 'sub', chs: [1, 2].map((n) => ({ ch: room(n), since: String(first) })) })
  const expiresAt = Math.floor(Date.now() / 1000) + 7_200
  client.send({ t: 'refresh', token: token({ sub: '1', exp: expiresAt }) })
  await until(() =>
    [...(instance.registry.connectionsOf(1) ?? [])].some(({ session }) => session?.expiresAt === expiresAt),
  )
  client.ws.resume()
  t.match(await client.waitForFrame('refreshed'), { t: 'refreshed' })
})

test('a stop sends clients away before those who still come', async (t) => {
  const instance = await live(t, 1)
  const clients = await Promise.all(Array.from({ length: 20 }, (_, n) => connectAs(t, instance.origin, 1 + (n % 5))))
  const { timeSlice } = instance.registry
  let served = 0
  let waiting = 0
  // As long as it runs, more than a second's worth of upgrades waits.
  const flooding = setInterval(() => {
    for (; waiting < 1_000; waiting += 1) {
      timeSlice.run(() => {
        served += 1
        waiting -= 1
        for (const until = performance.now() + 0.2; performance.now() < until; ) continue
      })
    }
  }, 20)
  t.teardown(() => clearInterval(flooding))
  await until(() => served > 0)
  served = 0
  const stopped = instance.stop()
  await Promise.all(clients.map((client) => client.waitForFrame('bye')))
  t.ok(served < 1_000, `${served} were served before the last of 20 clients heard of it`)
  clearInterval(flooding)
  await stopped
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
