import { setImmediate as turn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { BacklogReader } from '../../../src/realtime/channels/backlog-reader.ts'
import { ChannelIndex } from '../../../src/realtime/channels/channel-index.ts'
import type { ChannelKey } from '../../../src/realtime/channels/channel-names.ts'
import { createEventMapper } from '../../../src/realtime/frames/event-mapper.ts'
import { ProfileCache } from '../../../src/realtime/frames/profile-cache.ts'
import { chatSlices, createRooms, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { noLookups } from '../../harness/app/realtime-instance.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { openHub, roomEvent, turnsUntil, upTo } from '../subscriptions/hub-fixtures.ts'

const key = (room: number): ChannelKey => `room:${room}`
const keys = (last: number, first = 1): ChannelKey[] => upTo(last, first).map(key)

const mapEvent = createEventMapper(
  chatSlices.flatMap(({ frameMapper = [] }) => frameMapper),
  (error) => {
    throw error
  },
)

async function openReader(t: Test, rooms: number) {
  const database = await testDatabase()
  await createRooms(database, rooms, 1)
  const pool = openPool(database.serviceUrl, { max: 2, application_name: 'backlog' })
  t.teardown(() => pool.end())
  const index = new ChannelIndex(pool)
  const profiles = new ProfileCache(readDb(t, database), noLookups, () => {})
  return {
    database,
    index,
    backlogs: new BacklogReader(pool, index, mapEvent, profiles),
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

test('as many channels are read together as have 16,000 entries, each of them whole', async (t) => {
  const { database, index } = await openReader(t, 1)
  // Rooms 1 and 50 have more than a backlog, room 2 nothing, room 3 few.
  await queryRows(
    database,
    `insert into live_announcements
     select 'room:' || r, n, nullif(n - 1, 0), now()
     from generate_series(1, 50) r, generate_series(1, 1200) n
     where n <= case r when 1 then 1200 when 2 then 0 when 3 then 7 when 50 then 1200 else 1000 end`,
  )
  const { found, counts } = await readAll(keys(50), (channels) => index.newestEntries(channels, 10_000, 0))
  // 15 full ones and those two.
  t.same(counts, [17, 15, 15, 3])
  for (const channel of keys(50)) {
    const first = channel === key(1) || channel === key(50) ? 201 : 1
    const last = { [key(1)]: 1_200, [key(2)]: 0, [key(3)]: 7, [key(50)]: 1_200 }[channel] ?? 1_000
    t.same(
      found.get(channel)?.map(({ position }) => position),
      upTo(last, first),
      channel,
    )
  }
})

test('no further backlog is begun beyond 16 MiB', async (t) => {
  const { backlogs, speaker } = await openReader(t, 5)
  const long = await Promise.all(upTo(900).map((n) => postToRoom(speaker, 1 + (n % 4), 3_000_001)))
  const quiet = await postToRoom(speaker, 5)
  const end = Math.max(...long, quiet)
  const { found, counts } = await readAll([1, 2, 9, 3, 4, 5].map(key), (channels) => backlogs.read(channels, end))
  // Two have 8 MiB each, and a third one began in their last page. One without messages needs no place.
  t.same(counts, [4, 2])
  for (const room of upTo(4)) {
    const { from = 0, messages = [] } = found.get(key(room)) ?? {}
    t.ok(messages.length > 200, `${messages.length} messages`)
    t.equal(from, messages[0]?.prev ?? 0)
  }
  t.same(
    found.get(key(5))?.messages.map(({ position }) => position),
    [quiet],
  )
  t.same(found.get(key(9)), { from: 0, messages: [] })
})

test('a channel that did not fit into a read is among the first of the next one', async (t) => {
  const known = new Set<ChannelKey>()
  const reads: (readonly ChannelKey[])[] = []
  const ends: (() => void)[] = []
  const { hub } = openHub({
    backlogs: {
      lastBefore: async (channels) => {
        for (const channel of channels) known.add(channel)
        return new Map(channels.map((channel) => [channel, 6]))
      },
      read: async (channels) => {
        reads.push(channels)
        await new Promise<void>((resolve) => ends.push(resolve))
        return new Map(channels.slice(0, 15).map((channel) => [channel, { from: 0, messages: [] }]))
      },
    },
  })
  await hub.onEvents([roomEvent(10)])
  let loaded = 0
  const load = async (channel: ChannelKey): Promise<void> => {
    await hub.load(hub.acquire(channel), 5)
    loaded += 1
  }
  const loads = keys(51, 2).map(load)
  await turnsUntil(() => reads.length === 1)
  // Others come all the time.
  loads.push(...keys(131, 52).map(load))
  await turnsUntil(() => known.has(key(131)))
  // Until each of them has its own: at least one is handed over in each turn.
  for (let turns = 0; turns < 131; turns += 1) await turn()
  for (let read = 0; loaded < 130; read += 1) {
    await turnsUntil(() => ends.length > read || loaded === 130)
    ends[read]?.()
  }
  await Promise.all(loads)
  // On a busy machine fewer come in time for the first read; those after it are full.
  const ofFirst = reads[0]?.length ?? 0
  t.ok(ofFirst >= 1 && ofFirst <= 50, `${ofFirst} in the first read`)
  const expected = [keys(1 + ofFirst, 2)]
  for (let first = 2 + Math.min(15, ofFirst); first <= 131; first += 15)
    expected.push(keys(Math.min(first + 49, 131), first))
  t.same(reads, expected)
})
