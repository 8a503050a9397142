import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { test } from 'tap'
import { PoolExhausted } from '../../src/db/pool.ts'
import { BatchedLookup, queryBatch, queryByIds, SOCKET_LIMITS } from '../../src/db/queries/batched-lookup.ts'
import type { Slice } from '../../src/features/slice.ts'
import { logSubscriber, outboxSubscriber } from '../../src/notifications/subscribers.ts'
import type { LiveQuery } from '../../src/realtime/frames/frame-mapper.ts'
import { StatePusher } from '../../src/realtime/frames/state-pusher.ts'
import { chatSlices, createRooms, postToRoom, postToUser } from '../harness/app/realtime-fixtures.ts'
import { connectAs, noLookups, startInstance, type TestClient } from '../harness/app/realtime-instance.ts'
import { readDb } from '../harness/app/test-app.ts'
import { storedEvent } from '../harness/ledger/stored-event.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

const connectionError = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

test('when a batched query fails, its keys are queried one by one', async (t) => {
  const refused = new Error('3 is refused')
  const slow = Object.assign(new Error('canceling statement'), { code: '57014' })
  type Fail = (keys: readonly number[]) => Error | undefined
  const failing =
    (error: Error, ...damaged: readonly number[]): Fail =>
    (keys) =>
      keys.some((key) => damaged.includes(key)) ? error : undefined
  const asking = (fail: Fail, asked: (readonly number[])[]) => async (keys: readonly number[]) => {
    asked.push(keys)
    const error = fail(keys)
    if (error !== undefined) throw error
    return keys
  }
  const all = [1, 2, 3, 4]
  const outages = [connectionError(), new PoolExhausted('no connection was free in time')]
  // How the four keys fail, what comes of them, and which of them are queried alone.
  const rows: readonly (readonly [string, Fail, readonly unknown[], readonly number[]])[] = [
    ['one that is refused', failing(refused, 3), [1, 2, refused, 4], all],
    ['one that is too slow', failing(slow, 2), [1, slow, 3, 4], all],
    ['the rest is not queried after two that are too slow', failing(slow, 1, 2), [slow, slow, slow, slow], [1, 2]],
    ...outages.flatMap((outage) => [
      ['nor is any in an outage', failing(outage, ...all), all.map(() => outage), []] as const,
      [
        'nor the rest once it begins',
        (keys: readonly number[]) => (keys.length > 1 ? refused : failing(outage, 3)(keys)),
        [1, 2, outage, outage],
        [1, 2, 3],
      ] as const,
    ]),
  ]
  for (const [what, fail, results, alone] of rows) {
    const asked: (readonly number[])[] = []
    const found = await queryBatch(all, asking(fail, asked))
    t.same(
      found.map((one) => (one.status === 'fulfilled' ? one.value : one.reason)),
      results,
      what,
    )
    t.same(asked, [all, ...alone.map((key) => [key])], what)
  }

  const byId = await queryByIds([1, 2, 3], async (ids) => {
    if (ids.includes(2)) throw new Error('2 is refused')
    return new Map(ids.filter((id) => id === 1).map((id) => [id, 'one']))
  })
  t.same([[...byId.found], [...byId.failed.keys()]], [[[1, 'one']], [2]])

  const lookup = new BatchedLookup(10, asking(failing(refused, 3), []), SOCKET_LIMITS)
  const loads = await Promise.allSettled(all.map((key) => lookup.load(key)))
  t.match(loads, [{ value: 1 }, { value: 2 }, { reason: refused }, { value: 4 }])
})

const frame = (position: number, prev: number | null, index: number, event: string, data: object) => ({
  t: 'ev',
  ch: 'one-to-room:R1',
  event,
  position: String(position),
  prev: prev === null ? null : String(prev),
  id: `${position}.${index}`,
  data,
})

test('frames of an instance on which some rows are damaged', async (all) => {
  const database = await testDatabase()
  await createRooms(database, 2, 30)
  // The name of user 20 is damaged, and for some time the wallet of user 21.
  const users = async (_db: unknown, ids: readonly number[]) => {
    if (ids.includes(20)) throw new Error('the row of 20 is damaged')
    return new Map<number, never>()
  }
  let damagedReads = 0
  let isDamaged = true
  const wallet: LiveQuery = {
    event: 'wallet',
    changedBy: ({ type, data }) => (type === 'bag-items-added' ? [data.user_id] : []),
    read: async (_db, ids) => {
      if (ids.includes(21)) {
        damagedReads += 1
        if (isDamaged) throw new Error('the wallet of 21 is damaged')
      }
      return new Map(ids.map((id) => [id, {}]))
    },
  }
  const slices: readonly Slice[] = [...chatSlices, { documentedPrefix: '/v1', liveQuery: wallet }]
  const instance = await startInstance(all, database, slices, { lookups: { ...noLookups, users } })
  const { origin } = instance
  const shown = ({ frames }: TestClient) => frames.filter(({ event }) => event === 'wallet').length

  await all.test('members of a room get its events at once, in order, each with the previous position', async (t) => {
    const first = await postToRoom(instance, 1)
    const client = await connectAs(t, origin, 1)
    client.send({ t: 'sub', i: 1, ch: 'one-to-room:R1' })
    t.match(await client.waitForFrame('subbed', 1), { ch: 'one-to-room:R1', position: String(first), resumed: true })
    const second = await postToRoom(instance, 1, 2)
    await postToRoom(instance, 2)
    const third = await postToRoom(instance, 1, 1_000_001)
    const last = await postToRoom(instance, 1, 2_000_001)
    const posted = await postToUser(instance, 1, 5)
    // Channels are not in order among each other.
    await until(() => ['one-to-room:R1', 'global', 'user:1'].flatMap((ch) => client.eventsOf(ch)).length >= 7)
    t.same(client.eventsOf('one-to-room:R1'), [
      frame(second, first, 0, 'message-posted', { n: 2 }),
      frame(third, second, 0, 'message-posted', { n: 1_000_001 }),
      { ...frame(third, second, 1, 'message-repeated', { n: 1_000_001 }), enc: 'rot41' },
      frame(last, third, 0, 'message-posted', { n: 2_000_001 }),
      { ...frame(last, third, 1, 'message-repeated', { n: 2_000_001 }), enc: 'rot41' },
    ])
    t.same(client.eventsOf('global'), [{ ...frame(last, null, 2, 'message-posted', { n: 2_000_001 }), ch: 'global' }])
    t.same(client.eventsOf('user:1'), [{ ...frame(posted, null, 0, 'message-received', { n: 5 }), ch: 'user:1' }])
  })

  await all.test('a malformed sub is refused and affects no other socket', async (t) => {
    const clients = await Promise.all(Array.from({ length: 10 }, (_, n) => connectAs(t, origin, n + 2)))
    const hostile = await connectAs(t, origin, 1)
    const bad = ['\u0000', 'R1\u0000', '\ud800', 'R1\u202e', 'R1\u0085', 'R\n1']
    for (const [i, uid] of bad.entries()) hostile.send({ t: 'sub', i, ch: `one-to-room:${uid}` })
    for (const client of [...clients, hostile]) client.send({ t: 'sub', i: 10, ch: 'one-to-room:R1' })
    for (const client of [...clients, hostile]) t.match(await client.waitForFrame('subbed', 10), { resumed: true })
    for (const i of bad.keys()) t.match(await hostile.waitForFrame('err', i), { code: 'bad_frame' })
    t.same(instance.log, [])
  })

  await all.test('a client without its own channel gets no state until it subscribes again', async (t) => {
    const [subscribed, unsubscribed] = [await connectAs(t, origin, 15), await connectAs(t, origin, 15)]
    const seen = async (client: TestClient, count: number) =>
      t.ok(await client.waitFor((c) => (shown(c) === count ? true : undefined)))
    unsubscribed.send({ t: 'unsub', i: 1, ch: 'user:15' })
    await unsubscribed.waitForFrame('unsubbed', 1)
    await postToUser(instance, 15)
    await seen(subscribed, 1)
    unsubscribed.send({ t: 'sub', i: 2, ch: 'user:15' })
    await unsubscribed.waitForFrame('subbed', 2)
    t.equal(shown(unsubscribed), 0)
    await postToUser(instance, 15)
    await seen(unsubscribed, 1)
  })

  await all.test('a name that cannot be looked up is left out, and other frames arrive', async (t) => {
    const ids = [19, 20, 22]
    const clients = await Promise.all(ids.map((id) => connectAs(t, origin, id)))
    const positions = await Promise.all(ids.map((id) => postToUser(instance, id, 5)))
    for (const [i, client] of clients.entries()) {
      await client.waitFor((c) =>
        c.eventsOf(`user:${ids[i]}`).find(({ position }) => position === String(positions[i])),
      )
    }
    t.match(instance.log.join('\n'), /name for a frame could not be looked up/)
  })

  await all.test('a wallet that cannot be read is retried less and less often and delays no other', async (t) => {
    const one = await connectAs(t, origin, 21)
    const other = await connectAs(t, origin, 23)
    for (let i = 1; i <= 20; i += 1) {
      await Promise.all([postToUser(instance, 21), postToUser(instance, 23)])
      await other.waitFor((client) => (shown(client) > 0 ? true : undefined))
      await pause(50)
    }
    // 20 changes within a second or more: 200, 400, 800 ms … after one another, and twice at most for one try.
    t.ok(damagedReads <= 2 * 8, `${damagedReads} reads`)
    t.equal(shown(one), 0)
    isDamaged = false
    await one.waitFor((client) => (shown(client) > 0 ? true : undefined), 'the wallet, once it can be read')
  })
})

test('an outage is logged once, bugs during it one by one', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 1, 1)
  const failures = [
    connectionError(),
    new Error('first bug'),
    connectionError(),
    new PoolExhausted('no connection was free in time'),
    new Error('second bug'),
  ]
  const failing: LiveQuery = {
    event: 'wallet',
    changedBy: () => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return []
    },
    read: async () => new Map(),
  }
  const instance = await startInstance(t, database, [...chatSlices, { documentedPrefix: '/v1', liveQuery: failing }])
  await connectAs(t, instance.origin, 1)
  while (failures.length > 0) await postToUser(instance, 1)
  t.match(
    instance.log.map((line): unknown => JSON.parse(line)),
    [
      { level: 40, err: { message: 'connect ECONNREFUSED' } },
      { level: 50, err: { message: 'first bug' } },
      { level: 50, err: { message: 'second bug' } },
    ],
  )
  t.equal(instance.log.length, 3)
})

test('a wallet that cannot be read is not retried after its user has disconnected', async (t) => {
  const reads = new Map<number, number>()
  const readsOf = (user: number): number => reads.get(user) ?? 0
  const connected = new Set([1, 2])
  const pusher = new StatePusher(
    {
      event: 'wallet',
      changedBy: () => [1, 2],
      read: async (_db, ids) => {
        for (const id of ids) reads.set(id, readsOf(id) + 1)
        throw new Error('damaged')
      },
    },
    {
      db: readDb(t, await testDatabase()),
      assetBaseUrl: () => '',
      hasConnections: () => true,
      connectionsOf: (user) => (connected.has(user) ? new Set() : undefined),
      position: () => 1,
      onError: () => {},
    },
  )
  t.teardown(() => pusher.stop())
  pusher.onEvents([storedEvent(1)])
  await until(() => readsOf(1) > 2 && readsOf(2) > 2)
  connected.delete(1)
  const before = readsOf(1)
  // Both failed alike, so that each further retry for user 2 would be one for user 1.
  const others = readsOf(2)
  await until(() => readsOf(2) > others + 1)
  t.equal(readsOf(1), before)
})

test('an event whose notification cannot be composed delays no other notification', async (t) => {
  const lines: object[] = []
  const log = {
    info: (line: object) => void lines.push(line),
    error: (line: object) => void lines.push({ error: true, ...line }),
  }
  const db = readDb(t, await testDatabase())
  const at = storedEvent
  const text = { title: 't', body: 'b', type: 'reward', identifier: 'instant-transfer' } as const
  const addressed = (position: number) => ({
    position,
    user_id: 1,
    notification: { en: text, ar: text },
  })
  const notifier = async (_db: unknown, events: readonly { readonly position: number }[]) => {
    if (events.some(({ position }) => position === 2)) throw new Error('2 is damaged')
    return events.map(({ position }) => addressed(position))
  }
  await logSubscriber(db, notifier, log)([at(1), at(2), at(3)])
  t.match(lines, [{ error: true, position: 2 }, { position: 1 }, { position: 3 }])
  const logged = [1, 3].map((position) => ({ position, user_id: 1, type: 'reward', identifier: 'instant-transfer' }))
  t.strictSame(lines.slice(1), logged, 'without texts, which name people')

  const stored: number[] = []
  const outbox = {
    add: async (some: readonly { readonly position: number }[]) => {
      if (some.some(({ position }) => position === 3)) throw new Error('3 is refused')
      stored.push(...some.map(({ position }) => position))
    },
  }
  await outboxSubscriber(db, notifier, outbox, { wake: () => {} }, log)([at(1), at(2), at(3), at(4)])
  t.same(stored, [1, 4])
  t.match(lines.slice(-2), [
    { error: true, position: 2 },
    { error: true, position: 3 },
  ])

  await t.rejects(
    async () =>
      logSubscriber(
        db,
        async () => {
          throw connectionError()
        },
        log,
      )([at(1)]),
    /ECONNREFUSED/,
    'while the database is unreachable, events are delivered again',
  )
  const failing = (code: string) => async (): Promise<never> => {
    throw Object.assign(new DatabaseError(`SQLSTATE ${code}`, 0, 'error'), { code })
  }
  await t.rejects(
    async () => logSubscriber(db, failing('40P01'), log)([at(1)]),
    /40P01/,
    'after a deadlock, events are delivered again',
  )
  await logSubscriber(db, failing('22021'), log)([at(5)])
  t.match(lines.at(-1), { error: true, position: 5 }, 'data that cannot be read is dropped')
})
