import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QueryConfig } from 'pg'
import { type Test, test } from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { BLOCK_EVENTS, IndexWriter } from '../../../src/ledger/indexes/index-writer.ts'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { type Backlog, BacklogReader } from '../../../src/realtime/channels/backlog-reader.ts'
import { ChannelIndex } from '../../../src/realtime/channels/channel-index.ts'
import { messageSize } from '../../../src/realtime/channels/channel-message.ts'
import { RecentMessages } from '../../../src/realtime/channels/recent-messages.ts'
import { ResumeBudget, unlimited } from '../../../src/realtime/channels/resume-budget.ts'
import type { ChannelKey, RequiredIds } from '../../../src/realtime/frames/frame-mapper.ts'
import { ProfileCache } from '../../../src/realtime/frames/profile-cache.ts'
import { createRooms, giftToRoom, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { noLookups } from '../../harness/app/realtime-instance.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { openTestPool } from '../../harness/postgres/connections.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { indexUpTo } from '../../ledger/indexes/index-fixture.ts'
import {
  forEach,
  mapEvent,
  NO_PROFILES,
  openClient,
  openHub,
  readNothing,
  roomEvent,
  upTo,
} from '../subscriptions/hub-fixtures.ts'

const MIB = 1024 * 1024
const key = (room: number): ChannelKey => `room:${room}`
const keys = (last: number, first = 1): ChannelKey[] => upTo(last, first).map(key)

async function openReader(t: Test, rooms: number) {
  const database = await testDatabase()
  await createRooms(database, rooms, 1)
  const pool = openTestPool(t, database.serviceUrl, 2)
  const index = new ChannelIndex(pool, mapEvent)
  const profiles = new ProfileCache(readDb(t, database), noLookups, () => {})
  let turns = 0
  const timeSlice = {
    turn: async () => {
      turns += 1
    },
  }
  return {
    database,
    pool,
    index,
    turns: () => turns,
    backlogs: new BacklogReader(pool, index, mapEvent, profiles, timeSlice),
    speaker: createTestExecutor(t, database.serviceUrl),
  }
}

/** Reads all channels as the hub does: what is missing is read again. Returns how many each read gave. */
async function readAll<Value>(
  channels: readonly ChannelKey[],
  read: (channels: readonly ChannelKey[]) => Promise<ReadonlyMap<ChannelKey, Value>>,
) {
  const found = new Map<ChannelKey, Value>()
  const counts: number[] = []
  for (let missing = channels; missing.length > 0; missing = missing.filter((channel) => !found.has(channel))) {
    const some = await read(missing)
    counts.push(some.size)
    if (!some.has(missing[0] ?? 'global')) throw new Error('the first is missing')
    for (const [channel, value] of some) found.set(channel, value)
  }
  return { found, counts }
}

const withoutTimes = (backlogs: ReadonlyMap<ChannelKey, Backlog>) =>
  [...backlogs].map(([channel, { from, messages }]) => [
    channel,
    from,
    messages.map(({ at: _at, ...message }) => message),
  ])

test('a backlog is read in pages and bounded in messages and bytes, however far the index lags', async (t) => {
  const { database, pool, backlogs, speaker, turns } = await openReader(t, 6)
  const query = pool.query.bind(pool)
  let maxEvents = 0
  Reflect.set(pool, 'query', async (config: QueryConfig) => {
    const result = await query(config)
    if (config.name?.startsWith('events')) maxEvents = Math.max(maxEvents, result.rows.length)
    return result
  })
  // Nothing is indexed. Room 1 has one event, room 2 many, rooms 3 to 6 long ones.
  const quiet = await postToRoom(speaker, 1)
  const busy = await Promise.all(upTo(1_200).map((n) => postToRoom(speaker, 2, n)))
  const long = await Promise.all(upTo(900).map((n) => postToRoom(speaker, 3 + (n % 4), 3_000_001)))
  const end = Math.max(...busy, ...long)
  const channels: readonly ChannelKey[] = ['room:1', 'room:2', 'room:3', 'room:9']
  const found = await backlogs.read(channels, end, new RecentMessages(end))
  t.equal(maxEvents, 25, 'events at a time')

  const positionsOf = (channel: ChannelKey) => found.get(channel)?.messages.map(({ position }) => position)
  t.same(positionsOf('room:1'), [quiet])
  const ordered = busy.toSorted((a, b) => a - b)
  t.same(positionsOf('room:2'), ordered.slice(-1_000))
  t.equal(found.get('room:2')?.from, ordered.at(-1_001))
  const bytes = found.get('room:3')?.messages.reduce((sum, message) => sum + messageSize(message), 0) ?? 0
  t.ok(bytes > 8 * MIB && bytes < 8 * MIB + 100_000, `${bytes} bytes`)
  const kept = positionsOf('room:3') ?? []
  const ofThird = long.filter((_, i) => (i + 1) % 4 === 0).toSorted((a, b) => a - b)
  t.same(kept, ofThird.slice(-kept.length))
  t.equal(found.get('room:3')?.from, ofThird.at(-kept.length - 1))
  t.same(found.get('room:9'), { from: 0, messages: [] })

  // The same by the index, whose last block is not whole.
  await indexUpTo(database, end)
  t.same(withoutTimes(await backlogs.read(channels, end, new RecentMessages(end))), withoutTimes(found))

  const turnsOfRead = turns()
  t.ok(turnsOfRead > 80, 'requests are served between two pages')
  const lastPositions = await backlogs.lastBefore(channels, end + 1, new RecentMessages(end))
  t.equal(turns(), turnsOfRead, 'all frames of the instance wait for these')
  t.same(
    channels.map((channel) => lastPositions.get(channel)),
    [quiet, ordered.at(-1), ofThird.at(-1), null],
  )

  // No further backlog is begun beyond 16 MiB: two have 8 each. One without messages needs no place.
  const all = await readAll([3, 4, 9, 5, 6, 1].map(key), (some) => backlogs.read(some, end, new RecentMessages(end)))
  t.same(all.counts, [3, 2, 1])
  for (const room of upTo(6, 3)) {
    const { from = 0, messages = [] } = all.found.get(key(room)) ?? {}
    t.ok(messages.length > 200, `${messages.length} messages`)
    t.equal(from, messages[0]?.prev ?? 0)
  }
  t.equal(all.found.get(key(1))?.messages[0]?.position, quiet)
})

test('as many channels are read together as have 16,000 entries, each of them whole', async (t) => {
  const { database, index } = await openReader(t, 1)
  const users = upTo(50).map((user): ChannelKey => `user:${user}`)
  // Users 1 and 50 have more than a backlog, user 2 nothing, user 3 few.
  await queryRows(
    database,
    `insert into live_announcements
     select 'user:' || r, n, nullif(n - 1, 0), now()
     from generate_series(1, 50) r, generate_series(1, 1200) n
     where n <= case r when 1 then 1200 when 2 then 0 when 3 then 7 when 50 then 1200 else 1000 end`,
  )
  const { found, counts } = await readAll(users, (channels) => index.newestEntries(channels, 1, 10_000))
  // 15 full ones and those two.
  t.same(counts, [17, 15, 15, 3])
  const last: Readonly<Record<string, number>> = { ['user:1']: 1_200, ['user:2']: 0, ['user:3']: 7, ['user:50']: 1_200 }
  const expected = users.map((channel) => {
    const end = last[channel] ?? 1_000
    return [channel, upTo(end, end > 1_000 ? 201 : 1)]
  })
  t.same(
    users.map((channel) => [channel, found.get(channel)?.map(({ position }) => position)]),
    expected,
  )
})

test('as many rooms are read together as have 16,000 entries, from segments of all levels', async (t) => {
  const { database, index } = await openReader(t, 1)
  const client = await connect(database.serviceUrl, 'test')
  t.teardown(() => client.end())
  const writer = await IndexWriter.open(client)
  const entry = { type: 'gift-sent', version: 1, actor: 'system', requestId: 'r', idempotencyKey: null }
  while (writer.indexed < 80 * BLOCK_EVENTS) {
    const positions = upTo(writer.indexed + BLOCK_EVENTS, writer.indexed + 1)
    // Each of 20 rooms has every twentieth event.
    const events = positions.map((position) => ({ ...giftToRoom((position % 20) + 1, 1), position, entry }))
    await writer.addBlock(events)
    await writer.tidy()
  }
  const end = writer.indexed
  const { found, counts } = await readAll(keys(21), (channels) => index.newestEntries(channels, 1, end))
  t.same(counts, [16, 5])
  for (const room of upTo(20)) {
    const newest = end - ((end - room + 1) % 20)
    const positions = upTo(1_000, 1).map((n) => newest - 20 * (1_000 - n))
    t.same(
      found.get(key(room)),
      positions.map((position) => ({ position, prev: position - 20 })),
      `room ${room}`,
    )
  }
  t.same(found.get(key(21)), [])
})

test('a channel that did not fit into a read is among the first of the next one', async (t) => {
  const reads: (readonly ChannelKey[])[] = []
  const { hub } = openHub({
    backlogs: {
      lastBefore: forEach(() => 6),
      read: async (channels) => {
        reads.push(channels)
        return readNothing(channels.slice(0, 15))
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  await Promise.all(keys(131, 2).map((channel) => hub.load(hub.acquire(channel), 5, unlimited())))
  t.same(
    reads.flatMap((channels) => channels.slice(0, 15)),
    keys(131, 2),
  )
  t.ok(Math.max(...reads.map(({ length }) => length)) > 15, 'there were some that did not fit')
})

/** A hub at position 10 whose backlogs are read by `read`, which gets the number of its call. */
async function hubWith(read: (call: number) => Promise<readonly { readonly position: number }[]>) {
  let reads = 0
  const { hub } = openHub({
    backlogs: {
      lastBefore: forEach(() => 10),
      read: async (channels) => {
        reads += 1
        if (reads === 10) throw new Error('read again and again')
        const found = await read(reads)
        const messages = found.map(({ position }) => ({
          position,
          prev: null,
          at: Date.now(),
          bodies: ['"event":"x"}'],
        }))
        return forEach(() => ({ from: 0, messages }))(channels)
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  return { hub, reads: () => reads }
}

test('a channel that is opened again while its last position is read does not take it for its own', async (t) => {
  const reading = Promise.withResolvers<void>()
  const told = { position: 11, prev: 5, at: Date.now(), bodies: [] }
  const { hub } = openHub({
    backlogs: {
      lastBefore: async (channels, position) => {
        if (position === 11) await reading.promise
        return forEach(() => (position === 11 ? 5 : 11))(channels)
      },
      read: forEach(() => ({ from: 5, messages: [told] })),
    },
  })
  await hub.onEvents([roomEvent(10)])
  const before = hub.acquire('room:2')
  const loaded = hub.loadLastPosition(before)
  await nextTurn()
  hub.release(before)
  // Nobody listens.
  await hub.onEvents([roomEvent(11, 1, 2)])
  const channel = hub.acquire('room:2')
  reading.resolve()
  await loaded
  await hub.load(channel, 7, unlimited())
  t.match(channel.messagesAfter(7), [{ position: 11 }])
})

test('a channel that is opened while the names of others are read gets its own names', async (t) => {
  const reading = Promise.withResolvers<void>()
  const reads: (readonly RequiredIds[])[] = []
  const { hub } = openHub({
    profiles: {
      get: async (required) => {
        reads.push(required)
        await reading.promise
        return NO_PROFILES
      },
    },
  })
  const received = (position: number, user_id: number): PositionedEvent => ({
    type: 'bag-items-added',
    data: { user_id, decoration_id: 1, quantity: 1, reason: 'message' },
    movements: [],
    position,
    at: Date.now() * 1000,
  })
  hub.acquire('user:1')
  const delivered = hub.onEvents([received(1, 1), received(2, 2)])
  await hub.loadLastPosition(hub.acquire('user:2'))
  reading.resolve()
  await delivered
  t.same(reads, [[{ users: [1] }], [{ users: [1] }, { users: [2] }]])
})

test('a backlog outlives its last listener for some seconds', async (t) => {
  const { hub, reads } = await hubWith(async () => [{ position: 5 }])
  for (let i = 0; i < 20; i += 1) {
    const channel = hub.acquire('room:2')
    await hub.load(channel, 1, unlimited())
    t.match(channel.messagesAfter(1), [{ position: 5 }])
    hub.release(channel)
    hub.trim()
  }
  t.equal(reads(), 1)
})

test('a room with more events than a backlog holds during a read is read once, and older ones have expired', async (t) => {
  const { hub, reads } = await hubWith(async () => {
    await hub.onEvents(upTo(hub.position + 1_001, hub.position + 1).map((position) => roomEvent(position, 1, 2)))
    return []
  })
  const { subscriptions, frames, positions } = openClient(hub)
  const answers: unknown[] = []
  for (const since of ['5', '11']) {
    await subscriptions.subscribe({ t: 'sub', ch: 'one-to-room:R2', since })
    const { position, resumed } = frames.findLast(({ t: type }) => type === 'subbed') ?? {}
    answers.push([position, resumed, positions('one-to-room:R2').length])
    await subscriptions.unsubscribe({ t: 'unsub', ch: 'one-to-room:R2' })
  }
  t.same(answers, [
    ['1011', false, 0],
    ['11', true, 1_000],
  ])
  t.equal(reads(), 1)
  subscriptions.end()
})

test('a backlog that is dropped during each read is refused, to be asked for again', async (t) => {
  const { hub, reads } = await hubWith(async () => {
    await hub.onEvents([roomEvent(hub.position + 1, 1, 2)])
    channel.dropBacklog()
    return []
  })
  const channel = hub.acquire('room:2')
  const errors: unknown[] = []
  const { subscriptions, frames } = openClient(hub, { onError: (error) => errors.push(error) })
  await subscriptions.subscribe({ t: 'sub', ch: 'one-to-room:R2', since: '5' })
  t.match(frames, [{ t: 'err', code: 'unavailable', retry: true }])
  t.match(String(errors), /dropped while a client resumed/)
  t.equal(reads(), 3)
  subscriptions.end()
})

test("a user's resumes wait for the budget, and another's do not", async (t) => {
  const budget = new ResumeBudget()
  const order: string[] = []
  const frame = async (userId: number, channels: number, messages: number, name = '') => {
    const reservations = await budget.reserve(userId, channels)
    order.push(name)
    return () => {
      for (const reservation of reservations) {
        reservation.messages = messages
        reservation.settle()
        reservation.settle()
      }
    }
  }
  // As two sockets that come back to 50 rooms at once; what they might cost is reserved.
  const settlers = [await frame(1, 50, 0), await frame(1, 50, 0)]
  t.same(budget.counts, { running: 100, waiting: 0 })
  const third = frame(1, 1, 0, 'third')
  const other = await frame(2, 1, 0, 'other')
  t.same(budget.counts, { running: 101, waiting: 1 }, 'another user does not wait for them')
  for (const settle of settlers) settle()
  const settleThird = await third
  t.same(order.slice(2), ['other', 'third'], 'what they did not use is given back')
  settleThird()
  other()

  // Two that used so much that 50 are missing: the next one waits for half a second, not for what was reserved.
  const heavy = [await frame(5, 50, 1_205), await frame(5, 50, 1_205)]
  const waiting = frame(5, 1, 0)
  for (const settle of heavy) settle()
  const waitedFrom = performance.now()
  const settleWaiting = await waiting
  t.ok(performance.now() - waitedFrom < 10_000)
  settleWaiting()

  // 20 for the frame, 1 for its channel and 2,540 for its messages: beyond 2,500 they come at 100 a second.
  const costly = await frame(3, 1, 127_000)
  costly()
  const beganAt = performance.now()
  const next = await frame(3, 1, 0)
  t.ok(performance.now() - beganAt > 100)
  next()
  t.same(budget.counts, { running: 0, waiting: 0 })
  budget.sweep()
})
