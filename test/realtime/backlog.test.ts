import { setTimeout as pause } from 'node:timers/promises'
import type { QueryConfig } from 'pg'
import { test } from 'tap'
import { openPool } from '../../src/db/pool.ts'
import type { PositionedEvent } from '../../src/ledger/rules/event.ts'
import { BacklogReader } from '../../src/realtime/channels/backlog-reader.ts'
import { ChannelIndex } from '../../src/realtime/channels/channel-index.ts'
import { messageSize } from '../../src/realtime/channels/channel-message.ts'
import type { ChannelKey } from '../../src/realtime/channels/channel-names.ts'
import { Hub } from '../../src/realtime/channels/hub.ts'
import { ResumeBudget } from '../../src/realtime/channels/resume-budget.ts'
import { createEventMapper } from '../../src/realtime/frames/event-mapper.ts'
import { ProfileCache } from '../../src/realtime/frames/profile-cache.ts'
import type { Profiles } from '../../src/realtime/frames/profiles.ts'
import { chatSlices, createRooms, postToRoom } from '../harness/app/realtime-fixtures.ts'
import { connectAs, noLookups, startInstance } from '../harness/app/realtime-instance.ts'
import { readDb } from '../harness/app/test-app.ts'
import { createTestExecutor } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

const mapEvent = createEventMapper(
  chatSlices.flatMap(({ frameMapper = [] }) => frameMapper),
  (error) => {
    throw error
  },
)

const noProfiles: Profiles = { users: new Map(), rooms: new Map(), decorations: new Map(), packages: new Map() }

test('a backlog is read in pages and bounded in messages and bytes, however far the index lags', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 3, 1)
  const speaker = createTestExecutor(t, database.serviceUrl)
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'backlog' })
  t.teardown(() => pool.end())
  const query = pool.query.bind(pool)
  let maxEvents = 0
  Reflect.set(pool, 'query', async (config: QueryConfig) => {
    const result = await query(config)
    if (config.name?.startsWith('events')) maxEvents = Math.max(maxEvents, result.rows.length)
    return result
  })
  const profiles = new ProfileCache(readDb(t, database), noLookups, () => {})
  const backlogs = new BacklogReader(pool, new ChannelIndex(pool), mapEvent, profiles)

  // Nothing is indexed. Room 1 has one event, room 2 many, room 3 long ones.
  const quiet = await postToRoom(speaker, 1)
  const busy = await Promise.all(Array.from({ length: 2_500 }, (_, n) => postToRoom(speaker, 2, n + 1)))
  const long = await Promise.all(Array.from({ length: 300 }, () => postToRoom(speaker, 3, 3_000_001)))
  const end = Math.max(...busy, ...long)
  const channels: readonly ChannelKey[] = ['room:1', 'room:2', 'room:3', 'room:9']
  const found = await backlogs.read(channels, end)
  t.equal(maxEvents, 50, 'events at a time')

  const positionsOf = (channel: ChannelKey) => found.get(channel)?.messages.map(({ position }) => position)
  t.same(positionsOf('room:1'), [quiet])
  const ordered = busy.toSorted((a, b) => a - b)
  t.same(positionsOf('room:2'), ordered.slice(-1_000))
  t.equal(found.get('room:2')?.from, ordered.at(-1_001))
  const bytes = found.get('room:3')?.messages.reduce((sum, message) => sum + messageSize(message), 0) ?? 0
  t.ok(bytes > 8 * 1024 * 1024 && bytes < 8 * 1024 * 1024 + 100_000, `${bytes} bytes`)
  const kept = positionsOf('room:3') ?? []
  t.same(kept, long.toSorted((a, b) => a - b).slice(-kept.length))
  t.equal(found.get('room:3')?.from, long.toSorted((a, b) => a - b).at(-kept.length - 1))
  t.same(found.get('room:9'), { from: 0, messages: [] })

  const lastPositions = await backlogs.lastBefore(channels, end + 1)
  t.same(
    channels.map((channel) => lastPositions.get(channel)),
    [quiet, ordered.at(-1), Math.max(...long), null],
  )
})

test('a backlog outlives its last listener for some seconds', async (t) => {
  let reads = 0
  const hub = new Hub(
    {
      mapEvent,
      profiles: { get: async () => noProfiles },
      backlogs: {
        lastBefore: async (channels) => new Map(channels.map((channel) => [channel, null])),
        read: async (channels) => {
          reads += 1
          const messages = [{ position: 5, prev: null, at: Date.now(), bodies: ['"event":"x"}'] }]
          return new Map(channels.map((channel) => [channel, { from: 0, messages }]))
        },
      },
      head: async () => 10,
      onMemberLeft: () => {},
      onSent: () => {},
      onFlushed: () => {},
    },
    10,
  )
  const resumeOnce = async (): Promise<number> => {
    const channel = hub.acquire('room:1')
    let messageCount = 0
    await hub.resume(channel, 1, async (replay) => {
      messageCount = replay.messages?.length ?? -1
    })
    hub.release(channel)
    hub.trim()
    return messageCount
  }
  for (let i = 0; i < 20; i += 1) t.equal(await resumeOnce(), 1)
  t.equal(reads, 1)
  t.end()
})

test('a room with more events than a backlog holds during a read is read once, and older ones have expired', async (t) => {
  const event = (position: number): PositionedEvent => ({
    type: 'room-defined',
    data: { room_id: 1, owner_id: 1 },
    movements: [],
    position,
    at: Date.now() * 1000,
  })
  let reads = 0
  const hub: Hub = new Hub(
    {
      mapEvent,
      profiles: { get: async () => noProfiles },
      backlogs: {
        lastBefore: async (channels) => new Map(channels.map((channel) => [channel, null])),
        read: async (channels) => {
          reads += 1
          if (reads === 10) throw new Error('read again and again')
          await hub.onEvents(Array.from({ length: 1_001 }, (_, i) => event(hub.position + 1 + i)))
          return new Map(channels.map((channel) => [channel, { from: 0, messages: [] }]))
        },
      },
      head: async () => hub.position,
      onMemberLeft: () => {},
      onSent: () => {},
      onFlushed: () => {},
    },
    10,
  )
  const channel = hub.acquire('room:1')
  const replays: unknown[] = []
  for (const since of [5, 11]) {
    await hub.resume(channel, since, async ({ messages, from }) => {
      replays.push([messages?.length ?? null, from])
    })
  }
  t.same(replays, [
    [null, 1_011],
    [1_000, 11],
  ])
  t.equal(reads, 1)
})

test('a backlog that is dropped during each read ends the resume with an error', async (t) => {
  let reads = 0
  const hub: Hub = new Hub(
    {
      mapEvent,
      profiles: { get: async () => noProfiles },
      backlogs: {
        lastBefore: async (channels) => new Map(channels.map((channel) => [channel, null])),
        read: async (channels) => {
          reads += 1
          if (reads === 10) throw new Error('read again and again')
          const data = { room_id: 1, owner_id: 1 }
          const position = hub.position + 1
          await hub.onEvents([{ type: 'room-defined', data, movements: [], position, at: Date.now() * 1000 }])
          channel.dropBacklog()
          return new Map(channels.map((key) => [key, { from: 0, messages: [] }]))
        },
      },
      head: async () => hub.position,
      onMemberLeft: () => {},
      onSent: () => {},
      onFlushed: () => {},
    },
    10,
  )
  const channel = hub.acquire('room:1')
  await t.rejects(
    hub.resume(channel, 5, async () => {}),
    /dropped while resuming/,
  )
  t.equal(reads, 3)
})

test("a user's resumes wait for the budget, and another's do not", async (t) => {
  const budget = new ResumeBudget()
  let running = 0
  let maxRunning = 0
  const whole = async () => {
    running += 1
    maxRunning = Math.max(maxRunning, running)
    await pause(1)
    running -= 1
    return { channels: 1, queries: 2, readMessages: 0, messages: 100, characters: 0 }
  }
  // As a client of 50 rooms that comes back.
  await Promise.all(Array.from({ length: 50 }, () => budget.run(1, 0, whole)))
  t.equal(maxRunning, 2)
  let done = 0
  const more = Array.from({ length: 20 }, async () => {
    await budget.run(1, 0, whole)
    done += 1
  })
  const began = performance.now()
  await budget.run(2, 0, whole)
  t.ok(done < 20, 'another user does not wait for them')
  await Promise.all(more)
  // 70 in all cost 3,010: beyond 2,500 they come at 100 a second.
  t.ok(performance.now() - began > 1_000)
  await t.rejects(
    budget.run(3, 0, async () => {
      throw new Error('failed')
    }),
    /failed/,
  )
  await budget.run(3, 0, whole)
  // Reading costs as much as replaying: 2,540 in all.
  await budget.run(4, 0, async () => ({ channels: 0, queries: 0, readMessages: 127_000, messages: 0, characters: 0 }))
  const readAt = performance.now()
  await budget.run(4, 0, whole)
  t.ok(performance.now() - readAt > 300)
  budget.sweep()
})

test('a client resumes 50 rooms at once', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 50, 1)
  const instance = await startInstance(t, database, chatSlices)
  const first = await postToRoom(instance, 1)
  for (let room = 1; room <= 50; room += 1) await Promise.all([1, 2, 3].map((n) => postToRoom(instance, room, n)))
  const clients = await Promise.all([1, 2, 3].map(() => connectAs(t, instance.origin, 1)))
  // So many frames a second may each socket send.
  for (const [i, client] of clients.entries()) {
    for (let room = i * 17 + 1; room <= Math.min(50, (i + 1) * 17); room += 1) {
      client.send({ t: 'sub', i: room, ch: `one-to-room:R${room}`, since: String(first) })
    }
  }
  for (const [i, client] of clients.entries()) {
    for (let room = i * 17 + 1; room <= Math.min(50, (i + 1) * 17); room += 1) {
      t.match(await client.waitForFrame('subbed', room), { resumed: true, position: String(first) })
      await client.waitFor((c) => c.eventsOf(`one-to-room:R${room}`).at(2))
    }
  }
})
