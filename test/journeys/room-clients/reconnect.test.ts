import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import type { RealtimeIntervals } from '../../../src/startup/realtime.ts'
import { token } from '../../harness/app/minimal-app.ts'
import { chatRoomStates, chatSlices, createRooms, postToRoom, postToUser } from '../../harness/app/realtime-fixtures.ts'
import { startInstance } from '../../harness/app/realtime-instance.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'
import { clientsOfApps, startRoomClient } from './room-client-process.ts'

const R1 = 'one-to-room:R1'
const R2 = 'one-to-room:R2'
const OWN = 'user:1'
/** No heartbeat comes during a test. */
const NO_HEARTBEATS: Partial<RealtimeIntervals> = { heartbeat: 600_000, auth: 10_000, sweep: 20 }
const SHORT_HEARTBEATS: Partial<RealtimeIntervals> = { ...NO_HEARTBEATS, heartbeat: 1_000 }
/** Posted as two frames of one event. */
const TWO_FRAMES = 1_000_001

/** A client of user 1 in two rooms, connected through a proxy, and what has been posted since it listens. */
async function connectClient(t: Test, kind: 'browser' | 'kotlin', times: Partial<RealtimeIntervals>) {
  const database = await testDatabase()
  await createRooms(database, 2, 1)
  const instance = await startInstance(t, database, chatSlices, { times, findRoomStates: chatRoomStates })
  const network = await proxy(t, `${instance.origin.replace('http', 'ws')}/ws`)
  const options = { token: token({ sub: '1' }), rooms: ['R1', 'R2'], speed: 10 }
  const client = startRoomClient(t, kind, { url: network.url, ...options })
  const received = (channel: string) => client.eventsOf(channel).map(({ what, data }) => `${what} ${Object(data).n}`)
  const sent = new Map<string, string[]>([R1, R2, OWN].map((channel) => [channel, []]))
  let posts = 0

  async function post(channel: string, n = (posts += 1)): Promise<void> {
    if (channel === OWN) await postToUser(instance, 1, n)
    else await postToRoom(instance, channel === R1 ? 1 : 2, n)
    const events = channel === OWN ? ['message-received'] : ['message-posted', ...(n > 1e6 ? ['message-repeated'] : [])]
    sent.get(channel)?.push(...events.map((event) => `${event} ${n}`))
  }

  /** Waits until the client listens. What came before does not count. */
  async function start(): Promise<void> {
    for (const [channel, due] of sent) {
      while (received(channel).length === 0) {
        await post(channel)
        await pause(20)
      }
      await until(() => received(channel).at(-1) === due.at(-1))
      sent.set(channel, received(channel))
    }
  }
  await start()

  return {
    network,
    client,
    post,
    postEverywhere: async () => {
      for (const channel of [R1, OWN, R2, R1, R2]) await post(channel)
    },
    /** What was posted on a channel is not expected. */
    ignoreMissed: (channel: string) => sent.set(channel, received(channel)),
    /** Each event of each channel comes once and in order. */
    receivesAll: async () => {
      await until(() => [...sent].every(([channel, due]) => received(channel).at(-1) === due.at(-1)))
      for (const [channel, due] of sent) t.same(received(channel), due, channel)
    },
    /** Channels whose state was received. */
    states: () => client.lines.filter(({ what }) => what === 'state').map(({ channel }) => channel),
    reloads: () => client.lines.filter(({ what }) => what === 'reload').map(({ channel }) => channel),
    /** Waits until a socket was closed with this code, or by the client. */
    closed: (code: number | 'client') =>
      until(async () => (await instance.metrics.registry.metrics()).includes(`live_closes_total{code="${code}"} `)),
  }
}

for (const { kind, skip } of clientsOfApps) {
  test(`${kind}: after a cut connection all rooms are restored, and nothing comes twice`, {
    skip: skip || onlyInFullRun,
  }, async (t) => {
    const { network, post, postEverywhere, receivesAll, states, reloads } = await connectClient(t, kind, NO_HEARTBEATS)
    for (let cut = 0; cut < 2; cut += 1) {
      await post(R1, TWO_FRAMES + cut)
      await receivesAll()
      await network.down()
      await postEverywhere()
      await network.up()
      await receivesAll()
    }
    // Only a room without a position is asked for with its state.
    t.same(states(), [R1, R2])
    t.same(reloads(), [])
  })

  test(`${kind}: a connection on which nothing comes any more is replaced`, {
    skip: skip || onlyInFullRun,
  }, async (t) => {
    const { network, postEverywhere, receivesAll } = await connectClient(t, kind, SHORT_HEARTBEATS)
    network.silence()
    await postEverywhere()
    network.resume()
    await receivesAll()
  })

  test(`${kind}: it disconnects in the background, and catches up in the foreground`, {
    skip: skip || onlyInFullRun,
  }, async (t) => {
    const { client, closed, postEverywhere, receivesAll, reloads } = await connectClient(t, kind, NO_HEARTBEATS)
    await client.hide()
    await closed('client')
    await postEverywhere()
    client.show()
    await receivesAll()
    t.same(reloads(), [])
  })

  test(`${kind}: suspended with an open connection, it is closed with 4201 and catches up`, {
    skip: skip || onlyInFullRun,
  }, async (t) => {
    const { client, closed, postEverywhere, receivesAll } = await connectClient(t, kind, SHORT_HEARTBEATS)
    client.suspend()
    await closed(4201)
    await postEverywhere()
    client.wake()
    await receivesAll()
  })

  test(`${kind}: a room of which too much was missed is reloaded, and continues`, {
    skip: skip || onlyInFullRun,
  }, async (t) => {
    const { client, closed, post, postEverywhere, ignoreMissed, receivesAll, reloads } = await connectClient(
      t,
      kind,
      NO_HEARTBEATS,
    )
    await client.hide()
    await closed('client')
    await Promise.all(Array.from({ length: 1_002 }, () => post(R1)))
    await post(R2)
    client.show()
    await until(() => reloads().length > 0)
    t.same(reloads(), [R1])
    ignoreMissed(R1)
    await postEverywhere()
    await receivesAll()
  })
}
