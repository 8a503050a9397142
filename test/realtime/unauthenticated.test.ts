import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type Test, test } from 'tap'
import type { WebSocket } from 'ws'
import { AddressLimit } from '../../src/http/limits/address-limit.ts'
import { FrameScanner } from '../../src/realtime/sockets/frame-parser.ts'
import { token } from '../harness/app/minimal-app.ts'
import { chatSlices, createRooms } from '../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, TestClient } from '../harness/app/realtime-instance.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

async function live(t: Test, addressLimit = new AddressLimit(null)) {
  const database = await testDatabase()
  await createRooms(database, 1, 5)
  return startInstance(t, database, chatSlices, {
    addressLimit,
    times: { heartbeat: 600_000, auth: 600_000, sweep: 20 },
  })
}

const opened = async (client: TestClient): Promise<TestClient> => {
  await until(() => client.isSettled)
  return client
}

/** The codes of those that were closed; undefined of those that are open. */
const codes = (clients: readonly TestClient[]) => new Set(clients.map(({ code }) => code))

test('unauthenticated sockets of an address do not displace authenticated ones', async (t) => {
  const { origin } = await live(t)
  const open = (address: string) => opened(new TestClient(origin, { localAddress: address }))
  const early = await open('127.0.2.1')
  early.send({ t: 'auth', token: token({ sub: '3' }) })
  await early.waitForFrame('ready')
  // An address may have 200: then the oldest socket of the same address is closed.
  const strangers: TestClient[] = []
  t.teardown(async () => {
    await Promise.all(strangers.map((client) => client.close()))
  })
  for (let n = 0; n < 40; n += 1) {
    strangers.push(...(await Promise.all(Array.from({ length: 5 }, () => open('127.0.1.1')))))
  }
  const elsewhere = await open('127.0.1.2')
  strangers.push(elsewhere)
  for (let n = 0; n < 5; n += 1) strangers.push(await open('127.0.1.1'))
  await Promise.all(strangers.slice(0, 5).map((stranger) => stranger.waitForClose()))
  t.same(codes(strangers.slice(0, 5)), new Set([4100]))
  t.same(codes(strangers.slice(5)), new Set([undefined]))

  // Clients with a token are accepted, by the header and by the first frame.
  const known = await connectAs(t, origin, 1)
  const late = await open('127.0.2.1')
  late.send({ t: 'auth', token: token({ sub: '2' }) })
  await late.waitForFrame('ready')
  for (const client of [known, early, late]) {
    t.equal(client.code, undefined)
    client.send({ t: 'ping', i: 1 })
    await client.waitForFrame('pong', 1)
  }
  await Promise.all([early.close(), late.close()])
})

const whole = 'of 2,000 unauthenticated sockets in all, the oldest is closed'

test(whole, { skip: onlyInFullRun }, async (t) => {
  const { origin } = await live(t)
  const strangers: TestClient[] = []
  t.teardown(async () => {
    await Promise.all(strangers.map((client) => client.close()))
  })
  for (let i = 0; i < 11; i += 1) {
    for (let n = 0; n < 4; n += 1) {
      const some = Array.from({ length: 50 }, () => new TestClient(origin, { localAddress: `127.0.1.${i}` }))
      strangers.push(...(await Promise.all(some.map(opened))))
    }
  }
  await Promise.all(strangers.slice(0, 200).map((stranger) => stranger.waitForClose()))
  t.same(codes(strangers.slice(0, 200)), new Set([4100]))
  t.same(codes(strangers.slice(200)), new Set([undefined]))
})

test('upgrades without a token are limited by address, others are not', async (t) => {
  const { origin } = await live(t, new AddressLimit(3))
  const clients = await Promise.all([1, 2, 3].map(() => opened(new TestClient(origin, {}))))
  const refused = new TestClient(origin, {})
  const { status, body } = await refused.waitFor((client) => client.rejection, 'answer')
  t.equal(status, 429)
  t.match(JSON.parse(body), { code: 'rate_limited' })
  await connectAs(t, origin, 1)
  const elsewhere = await opened(new TestClient(origin, { localAddress: '127.0.3.1' }))
  t.same(codes([...clients, elsewhere]), new Set([undefined]))
  for (const client of [...clients, refused, elsewhere]) await client.close()
})

const MASK = [1, 2, 3, 4]
/** A masked frame without payload. */
const frame = (first: number) => Buffer.from([first, 0x80, ...MASK])
const PING = frame(0x89)
const PONG = frame(0x8a)
const EMPTY_TEXT_BEGINS = frame(0x01)
const EMPTY_CONTINUATION = frame(0x00)
const EMPTY_TEXT = frame(0x81)

const socketOf = (ws: WebSocket): Socket => Reflect.get(ws, '_socket')

test('floods of frames', async (all) => {
  const { origin } = await live(all)

  await all.test('frames of every kind are counted, also empty ones', async (t) => {
    const rows: readonly (readonly [string, readonly Buffer[]])[] = [
      ['pings', Array.from({ length: 21 }, () => PING)],
      ['unsolicited pongs', Array.from({ length: 21 }, () => PONG)],
      ['empty fragments', [EMPTY_TEXT_BEGINS, ...Array.from({ length: 20 }, () => EMPTY_CONTINUATION)]],
      ['empty messages', Array.from({ length: 21 }, () => EMPTY_TEXT)],
    ]
    for (const [what, frames] of rows) {
      const client = await connectAs(t, origin, 1)
      socketOf(client.ws).write(Buffer.concat(frames))
      t.equal(await client.waitForClose(), 4108, what)
      const few = await connectAs(t, origin, 1)
      for (const one of frames.slice(0, 9)) socketOf(few.ws).write(one)
      socketOf(few.ws).write(PING)
      await once(few.ws, 'pong')
      t.equal(few.code, undefined, what)
    }
  })

  await all.test('a flood of control frames is cut off and not read on', async (t) => {
    const flooder = await connectAs(t, origin, 1)
    // So that it does not notice that it is closed, and continues.
    flooder.ws.pause()
    const socket = socketOf(flooder.ws)
    const pong = Buffer.concat([Buffer.from([0x8a, 0x80 | 125, ...MASK]), Buffer.alloc(125)])
    const flood = Buffer.concat(Array.from({ length: 500 }, () => pong))
    let taken = 0
    const pour = (): void => {
      while (socket.writable && taken < 400) {
        taken += 1
        if (!socket.write(flood)) return void socket.once('drain', pour)
      }
    }
    pour()
    await until(() => socket.destroyed || taken === 400)
    // 26 MB were offered; what was accepted is in buffers.
    t.ok(taken < 400, `${taken} of 400 taken`)
    flooder.terminate()
  })
})

test('frames are found in chunks of any size', async (t) => {
  const bytes = Buffer.concat([
    PING,
    Buffer.from([0x81, 0xfe, 0x01, 0x00, ...MASK, ...Buffer.alloc(256, 0x89)]),
    Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 3, ...MASK, 0x8a, 0x8a, 0x8a]),
    Buffer.from([0x02, 0x01, 0x89]),
    EMPTY_CONTINUATION,
    Buffer.from([0x88, 0x82, ...MASK, 3, 232]),
  ])
  const due = [0x9, 0x1, 0x2, 0x2, 0x0, 0x8]
  for (const size of [1, 2, 3, 5, 7, 64, bytes.length]) {
    const found: number[] = []
    const scanner = new FrameScanner((opcode) => found.push(opcode) > 0)
    for (let at = 0; at < bytes.length; at += size) t.ok(scanner.scan(bytes.subarray(at, at + size)))
    t.same(found, due, `in pieces of ${size}`)
  }
  const some: number[] = []
  const stopping = new FrameScanner((opcode) => some.push(opcode) < 2)
  t.notOk(stopping.scan(bytes))
  t.same(some, [0x9, 0x1])
})
