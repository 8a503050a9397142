import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'
import { until } from '../../harness/until.ts'
import { clientsOfApps, type RoomClientProcess, startRoomClient } from './room-client-process.ts'

type Test = Parameters<typeof startRoomClient>[0]
type Kind = 'browser' | 'kotlin'

const CH = 'one-to-room:R1'

/** A connection of the client, as the service sees it. */
interface Connection {
  readonly socket: WebSocket
  readonly frames: Readonly<Record<string, unknown>>[]
  readonly send: (...frames: object[]) => void
}

/** A server that does as it is told; by itself it answers nothing. */
async function startServer(t: Test) {
  const server = createServer()
  const webSockets = new WebSocketServer({ noServer: true })
  const connections: Connection[] = []
  const upgrades: { readonly authorization: string | undefined; readonly at: number }[] = []
  /** HTTP answers to the next upgrades. */
  const refusals: string[] = []
  server.on('upgrade', (request, stream, head) => {
    upgrades.push({ authorization: request.headers.authorization, at: performance.now() })
    const refusal = refusals.shift()
    if (refusal === 'silence') return
    if (refusal !== undefined) {
      stream.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    webSockets.handleUpgrade(request, stream, head, (socket) => {
      const frames: Connection['frames'] = []
      connections.push({
        socket,
        frames,
        send: (...sent) => {
          for (const frame of sent) socket.send(JSON.stringify(frame))
        },
      })
      socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    for (const { socket } of connections) socket.terminate()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `ws://127.0.0.1:${address.port}/ws`,
    upgrades,
    refusals,
    /** Waits for the connection with this number, from 0, and in browsers for its token. */
    connection: async (index: number, kind: Kind = 'browser'): Promise<Connection> => {
      await until(() => (kind === 'kotlin' ? index in connections : (connections[index]?.frames.length ?? 0) > 0))
      const connection = connections[index]
      if (connection === undefined) throw new Error(`no connection ${index}`)
      return connection
    },
  }
}

const ready = { t: 'ready', user_id: 1, position: '5', ledger: 'a', heartbeat: 25 }
const hb = { t: 'hb' }

/** How long the client waited before it opened this connection, from 1. The timer after that is the connect timeout. */
function delayBefore({ lines }: RoomClientProcess, connection: number): unknown {
  const opened = lines.flatMap(({ what }, at) => (what === 'open' ? [at] : []))[connection]
  const timers = lines.slice(0, opened).filter(({ what }) => what === 'timer')
  return Object(timers.at(-2)?.data).ms
}

const options = { token: 'first', rooms: ['R1'], speed: 100 }

test('browser: how soon it reconnects depends on the close code and on the failures in a row', async (t) => {
  const server = await startServer(t)
  const client = startRoomClient(t, 'browser', { url: server.url, ...options })
  const rows: readonly {
    readonly before: readonly object[]
    readonly code: number | 'cut'
    readonly delay: number
    readonly token?: string
  }[] = [
    // After a heartbeat there are no failures to count.
    { before: [ready, hb], code: 4100, delay: 2_500 },
    { before: [ready, hb], code: 4103, delay: 2_500 },
    { before: [ready, hb], code: 1011, delay: 2_500 },
    { before: [ready, hb], code: 'cut', delay: 2_500 },
    { before: [ready, hb], code: 4201, delay: 500 },
    { before: [ready, hb, { t: 'bye', code: 4200, retry_ms: 1_700 }], code: 4200, delay: 1_700 },
    { before: [{ t: 'bye', code: 4100, retry_ms: 12_300 }], code: 4100, delay: 12_300 },
    { before: [ready, hb], code: 4202, delay: 500, token: 'second' },
    { before: [ready], code: 4201, delay: 5_000, token: 'first' },
    { before: [ready], code: 4100, delay: 10_000 },
    { before: [], code: 4100, delay: 20_000 },
    { before: [], code: 4201, delay: 30_000 },
    { before: [], code: 'cut', delay: 30_000 },
    { before: [ready, hb], code: 4101, delay: 2_500 },
  ]
  for (const [index, { before, code, delay, token }] of rows.entries()) {
    const { socket, send } = await server.connection(index)
    send(...before)
    if (code === 'cut') socket.terminate()
    else socket.close(code)
    const { frames } = await server.connection(index + 1)
    t.equal(delayBefore(client, index + 1), delay, `${code} after ${before.length} frames`)
    if (token !== undefined) t.same(frames[0], { t: 'auth', token })
  }
})

test('browser: it has its token before it connects, since the service waits only 10 s for it', async (t) => {
  const server = await startServer(t)
  const client = startRoomClient(t, 'browser', { url: server.url, ...options })
  await server.connection(0)
  const steps = client.lines.map(({ what }) => what).filter((what) => ['token', 'open'].includes(what))
  t.same(steps, ['token', 'open'])
})

test('browser: a connection that is not ready in 15 s is given up', async (t) => {
  const server = await startServer(t)
  server.refusals.push('silence')
  const client = startRoomClient(t, 'browser', { url: server.url, ...options, connectMs: 200 })
  const timers = () => client.lines.filter(({ what }) => what === 'timer').map(({ data }) => Object(data).ms)
  await until(() => timers().length >= 3)
  t.same(timers().slice(0, 3), [15_000, 2_500, 15_000])
})

for (const { kind, skip } of clientsOfApps) {
  test(`${kind}: it does not come back after a code that asks for a log-in or an update`, { skip }, async (t) => {
    for (const code of [4001, 4003, 4004, 4009, 4026]) {
      const server = await startServer(t)
      const client = startRoomClient(t, kind, { url: server.url, ...options })
      const { socket } = await server.connection(0, kind)
      socket.close(code)
      await until(() => client.lines.some(({ what }) => what === 'stopped'))
      t.same(client.lines.find(({ what }) => what === 'stopped')?.data, { code })
      await client.hide()
      client.show()
      await until(() => client.lines.some(({ what }) => what === 'show'))
      t.equal(server.upgrades.length, 1)
    }
  })

  test(`${kind}: it resumes where it was, and skips what it has`, { skip }, async (t) => {
    const server = await startServer(t)
    const client = startRoomClient(t, kind, { url: server.url, ...options })
    const subbed = { t: 'subbed', ch: CH, position: '5', resumed: true }
    const ev = { t: 'ev', ch: CH, event: 'moved', position: '7', prev: '5', data: {} }
    const afterHeartbeat = { t: 'ev', ch: 'global', event: 'heartbeat-received', data: {} }
    const subs = async (index: number) => {
      const { frames } = await server.connection(index, kind)
      await until(() => frames.some((frame) => frame['t'] === 'sub'))
      return frames.filter((frame) => frame['t'] === 'sub').map((frame) => frame['chs'])
    }
    const own = { ch: 'user:1', since: '5' }

    const first = await server.connection(0, kind)
    first.send(ready)
    t.same(await subs(0), [[{ ch: CH, state: true }, own]])
    first.send({ ...subbed, state: { uid: 'R1' } }, { ...ev, id: '7.0' }, hb, {
      ...ev,
      position: '9',
      prev: '7',
      id: '9.0',
    })
    await until(() => client.eventsOf(CH).length === 2)
    first.socket.terminate()

    const second = await server.connection(1, kind)
    second.send(ready)
    t.same(await subs(1), [[{ ch: CH, since: '7' }, own]])
    // A heartbeat before the replay proves nothing about it.
    second.send(hb, afterHeartbeat)
    await until(() => client.eventsOf('global').length === 1)
    second.socket.terminate()

    const third = await server.connection(2, kind)
    third.send(ready)
    t.same(await subs(2), [[{ ch: CH, since: '7' }, own]])
    third.send(
      subbed,
      { ...ev, position: '9', prev: '7', id: '9.0' },
      { ...ev, position: '9', prev: '7', id: '9.1' },
      hb,
      afterHeartbeat,
    )
    await until(() => client.eventsOf('global').length === 2)
    third.socket.terminate()

    const fourth = await server.connection(3, kind)
    fourth.send(ready)
    t.same(await subs(3), [[{ ch: CH, since: '9' }, own]])
    t.equal(client.eventsOf(CH).length, 3)
    t.same(
      client.lines.find(({ what }) => what === 'state'),
      { channel: CH, what: 'state', data: { uid: 'R1' } },
    )
  })

  test(`${kind}: positions of a ledger that went back are sent as such until each channel was answered`, {
    skip,
  }, async (t) => {
    const server = await startServer(t)
    const client = startRoomClient(t, kind, { url: server.url, ...options })
    const subs = async (index: number, count: number) => {
      const { frames } = await server.connection(index, kind)
      const sent = () => frames.filter((frame) => frame['t'] === 'sub')
      await until(() => sent().length === count)
      return sent().map(({ ledger, chs }) => ({ ledger, chs }))
    }
    const room = { ch: CH, since: '7' }
    const own = { ch: 'user:1', since: '5' }
    const ev = { t: 'ev', ch: CH, event: 'moved', position: '7', prev: '5', id: '7.0', data: {} }
    const first = await server.connection(0, kind)
    first.send(ready)
    t.same(await subs(0, 1), [{ ledger: 'a', chs: [{ ch: CH, state: true }, own] }])
    first.send({ t: 'subbed', ch: CH, position: '5', resumed: true }, ev, hb)
    await until(() => client.eventsOf(CH).length === 1)
    first.socket.terminate()

    const other = { ...ready, ledger: 'b' }
    const second = await server.connection(1, kind)
    second.send(other)
    t.same(await subs(1, 1), [{ ledger: 'a', chs: [room, own] }])
    // It ends before the other channel is answered.
    second.send({ t: 'subbed', ch: CH, position: '3', resumed: false }, { ...ev, prev: '3' }, hb)
    await until(() => client.eventsOf(CH).length === 2)
    second.socket.terminate()

    const third = await server.connection(2, kind)
    third.send(other)
    t.same(await subs(2, 2), [
      { ledger: 'b', chs: [room] },
      { ledger: 'a', chs: [own] },
    ])
    t.equal(client.lines.filter(({ what }) => what === 'reload').length, 1)
  })

  test(`${kind}: it asks for at most 50 channels with one frame`, { skip }, async (t) => {
    const server = await startServer(t)
    const rooms = Array.from({ length: 60 }, (_, n) => `R${n}`)
    startRoomClient(t, kind, { url: server.url, ...options, rooms })
    const { send, frames } = await server.connection(0, kind)
    send(ready)
    const subs = () => frames.flatMap(({ chs }) => (Array.isArray(chs) ? [chs.map(({ ch }) => ch)] : []))
    await until(() => subs().flat().length >= 61)
    t.same(
      subs().map(({ length }) => length),
      [50, 11],
    )
    t.same(subs().flat(), [...rooms.map((room) => `one-to-room:${room}`), 'user:1'])
  })

  test(`${kind}: rooms that are added together go in one frame`, { skip }, async (t) => {
    const server = await startServer(t)
    const client = startRoomClient(t, kind, { url: server.url, ...options })
    const { send, frames } = await server.connection(0, kind)
    send(ready)
    const subs = () => frames.flatMap(({ chs }) => (Array.isArray(chs) ? [chs] : []))
    await until(() => subs().length === 1)
    const rooms = Array.from({ length: 30 }, (_, n) => `S${n}`)
    client.join(rooms)
    await until(() => subs().flat().length >= 32)
    t.same(subs().slice(1), [rooms.map((room) => ({ ch: `one-to-room:${room}`, state: true }))])
  })

  test(`${kind}: a refused subscription is tried again if that may help, else given up`, { skip }, async (t) => {
    const server = await startServer(t)
    const client = startRoomClient(t, kind, { url: server.url, ...options, rooms: ['R1', 'R2', 'R3'] })
    const { send, frames } = await server.connection(0, kind)
    send(ready)
    const err = { t: 'err', message: 'Refused.' }
    send({ ...err, ch: CH, code: 'unavailable', retry: true })
    await until(
      () => JSON.stringify(frames.at(-1)) === JSON.stringify({ t: 'sub', ledger: 'a', chs: [{ ch: CH, state: true }] }),
    )
    send({ ...err, ch: CH, code: 'not_room_member' }, { t: 'unsubbed', ch: 'one-to-room:R2', code: 'not_room_member' })
    const refused = () => client.lines.filter(({ what }) => what === 'not_room_member').map(({ channel }) => channel)
    await until(() => refused().length === 2)
    t.same(refused(), [CH, 'one-to-room:R2'])
    await client.hide()
    client.show()
    const again = await server.connection(1, kind)
    again.send(ready)
    await until(() => again.frames.some((frame) => frame['t'] === 'sub'))
    t.same(again.frames.at(-1)?.['chs'], [
      { ch: 'one-to-room:R3', state: true },
      { ch: 'user:1', since: '5' },
    ])
  })
}

test('kotlin: it heeds the HTTP answer to its upgrade', { skip: clientsOfApps[1].skip }, async (t) => {
  const server = await startServer(t)
  server.refusals.push('503 Service Unavailable\r\nRetry-After: 2', '440 Expired', '426 Upgrade Required')
  const client = startRoomClient(t, 'kotlin', { url: server.url, ...options })
  await until(() => client.lines.some(({ what }) => what === 'stopped'))
  t.same(client.lines.find(({ what }) => what === 'stopped')?.data, { code: 426 })
  t.same(
    server.upgrades.map(({ authorization }) => authorization),
    ['Bearer first', 'Bearer first', 'Bearer second'],
  )
  const [first, second] = server.upgrades
  t.ok((second?.at ?? 0) - (first?.at ?? 0) >= 2_000)
})
