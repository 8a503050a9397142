import { Client } from 'pg'
import { test } from 'tap'
import { lockName } from '../../../src/db/ledger-url.ts'
import { eventsAfter } from '../../../src/ledger/storage/stored-event.ts'
import { BacklogReader } from '../../../src/realtime/channels/backlog-reader.ts'
import { ChannelIndex, INDEX_CURSOR, MAX_BACKLOG_AGE_MS } from '../../../src/realtime/channels/channel-index.ts'
import { RecentMessages } from '../../../src/realtime/channels/recent-messages.ts'
import type { ChannelKey } from '../../../src/realtime/frames/frame-mapper.ts'
import { ProfileCache } from '../../../src/realtime/frames/profile-cache.ts'
import { chatSlices, createRooms, postToRoom, postToUser } from '../../harness/app/realtime-fixtures.ts'
import { connectAs, noLookups, startInstance } from '../../harness/app/realtime-instance.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { openTestPool } from '../../harness/postgres/connections.ts'
import { recordStatements } from '../../harness/postgres/record-statements.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { runs } from '../../harness/properties.ts'
import { Random } from '../../harness/random.ts'
import type { Scope } from '../../harness/scope.ts'
import { indexUpTo } from '../../ledger/indexes/index-fixture.ts'
import { mapEvent, upTo } from '../subscriptions/hub-fixtures.ts'

type Counts = readonly (readonly [channel: ChannelKey, messages: number])[]

/** Too old for a backlog, the last one of a room that has a young one. Those of a phase come in random order. */
const oldPhases: readonly Counts[] = [
  [
    ['room:1', 5],
    ['room:2', 5],
    ['room:3', 300],
    ['room:4', 700],
    ['user:1', 3],
    ['user:2', 2],
  ],
  [['room:6', 1]],
]
/** Room 8 has a full backlog in the last eight blocks that are indexed, and one message more long before. */
const youngPhases: readonly Counts[] = [
  [['user:1', 1]],
  [['room:8', 1]],
  [
    ['room:1', 1_000],
    ['room:3', 999],
    ['room:6', 1],
    ['room:7', 1_000],
    ['user:1', 100],
  ],
  [
    ['room:2', 1_001],
    ['room:8', 1_000],
  ],
  [['room:9', 256]],
]
const channels: readonly ChannelKey[] = [
  ...upTo(10).map((room): ChannelKey => `room:${room}`),
  'user:1',
  'user:2',
  'global',
]

test('backlogs and last positions are the same wherever the indexes and the memory of an instance end', async (t) => {
  const database = await testDatabase()
  const speaker = createTestExecutor(t, database.serviceUrl)
  const random = new Random(runs(1).seed)
  const post = async (counts: Counts): Promise<void> => {
    const posts = counts.flatMap(([channel, count]) => Array.from({ length: count }, () => channel))
    const inRandomOrder = posts.map((channel) => ({ channel, place: random.int(0, 1e9) }))
    inRandomOrder.sort((a, b) => a.place - b.place)
    await Promise.all(
      inRandomOrder.map(({ channel }) => {
        const [kind, id] = channel.split(':')
        return kind === 'room' ? postToRoom(speaker, Number(id)) : postToUser(speaker, Number(id))
      }),
    )
  }
  for (const phase of oldPhases) await post(phase)
  const since = Date.now() + 2
  while (Date.now() < since);
  for (const phase of youngPhases) await post(phase)

  const pool = openTestPool(t, database.serviceUrl, 2)
  const index = new ChannelIndex(pool, mapEvent)
  const profiles = new ProfileCache(readDb(t, database), noLookups, () => {})
  const backlogs = new BacklogReader(pool, index, mapEvent, profiles, { turn: async () => {} })
  const events = await eventsAfter(pool, 0, 10_000)
  const head = events.length
  const all = events.flatMap((event) =>
    [...mapEvent(event).keys()].map((channel) => ({ channel, position: event.position, at: event.at / 1_000 })),
  )
  const backlogOf = (channel: ChannelKey, position: number) => {
    const history = all.filter((message) => message.channel === channel && message.position <= position)
    const young = history.filter(({ at }) => at > since - 1).slice(-1_000)
    const before = history.at(-young.length - 1)
    return {
      from: young.length === history.length ? 0 : before?.position,
      messages: young.map(({ position }, i) => [position, young[i - 1]?.position ?? before?.position ?? null]),
    }
  }
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => since - 1 + MAX_BACKLOG_AGE_MS

  let stored = 0
  for (const { indexed, live, remembered, position } of [
    { indexed: 0, live: 0, remembered: 0, position: head },
    { indexed: 0, live: 1_500, remembered: head - 700, position: head - 256 },
    { indexed: 1_200, live: 1_500, remembered: 2_000, position: head },
    { indexed: 3_500, live: 2_000, remembered: head, position: head - 1 },
    { indexed: head, live: 4_000, remembered: 3_000, position: head - 900 },
    { indexed: head, live: head, remembered: head, position: head },
    { indexed: head, live: head, remembered: 0, position: 1_100 },
  ]) {
    await indexUpTo(database, indexed)
    while (stored < live) {
      const some = events.slice(stored, Math.min(live, stored + 500))
      await index.subscriber()(some)
      stored += some.length
      await queryRows(
        database,
        `insert into ledger_cursors values ('${INDEX_CURSOR}', ${stored})
         on conflict (name) do update set position = excluded.position`,
      )
    }
    const recent = new RecentMessages(remembered)
    for (const message of all)
      if (message.position > remembered) recent.add({ position: message.position, channels: [message.channel] })
    const found = new Map<ChannelKey, unknown>()
    while (found.size < channels.length) {
      const missing = channels.filter((channel) => !found.has(channel))
      for (const [channel, { from, messages }] of await backlogs.read(missing, position, recent))
        found.set(channel, { from, messages: messages.map((message) => [message.position, message.prev]) })
    }
    const lasts = await backlogs.lastBefore(channels, position + 1, recent)
    for (const channel of channels) {
      const where = `${channel} at ${position}, indexed to ${indexed} and ${live}, remembered from ${remembered}`
      t.strictSame(found.get(channel), backlogOf(channel, position), where)
      const last = all.findLast((message) => message.channel === channel && message.position <= position)
      t.equal(lasts.get(channel), last?.position ?? null, where)
    }
  }
})

test('an instance remembers its newest messages, and from where on', (t) => {
  const recent = new RecentMessages(7)
  const after = (position: number) => recent.after(position).map((message) => message.position)
  t.same([recent.from, after(7)], [7, []])
  let position = 7
  for (; recent.from === 7; position += 2) recent.add({ position: position + 2, channels: ['user:1', 'user:2'] })
  t.ok(position - recent.from > 5_000 && position - recent.from < 20_000)
  t.equal(after(recent.from).length, (position - recent.from) / 2)
  t.same(after(position - 4), [position - 2, position])
  t.same(after(position - 5), [position - 4, position - 2, position])
  const { from } = recent
  recent.extend(from - 20, from - 1, [{ position: from - 10, channels: ['user:1'] }])
  t.equal(recent.from, from, 'those between are missing')
  recent.extend(from - 20, from, [{ position: from - 10, channels: ['user:1'] }])
  t.equal(recent.from, from - 20)
  t.same(after(from - 11).slice(0, 2), [from - 10, from + 2])
  t.end()
})

test('an instance searches events from before it began once, and answers as the others', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 2, 2)
  const first = await startInstance(t, database, chatSlices)
  const second = await startInstance(t, database, chatSlices)
  await keepFromStoring(t, database)
  const before = await postToRoom(first, 1)
  const toUser = [await postToUser(first, 1, 1), await postToUser(first, 1, 2)]
  const gifts = await Promise.all(upTo(1_000).map((n) => postToRoom(first, 2, n)))
  const last = String(Math.max(...gifts))
  const third = await startInstance(t, database, chatSlices)
  const statements = recordStatements(t)
  const answers: unknown[] = []
  for (const { origin } of [first, second, third]) {
    const client = await connectAs(t, origin, 1)
    const begun = statements.length
    // When this is answered, it has delivered all.
    client.send({ t: 'sub', i: 1, ch: 'one-to-room:R2', since: last })
    await client.waitForFrame('subbed', 1)
    client.send({
      t: 'sub',
      i: 2,
      chs: [
        { ch: 'user:1', since: '0' },
        { ch: 'one-to-room:R1', since: '0' },
      ],
    })
    await client.waitFor((c) => c.eventsOf('user:1').at(1))
    await client.waitFor((c) => c.eventsOf('one-to-room:R1').at(0))
    const searches = statements.slice(begun).filter((name) => name === 'events after').length
    // In pages of 25 events. Each instance polls with the same statement.
    const due = origin === third.origin ? Math.floor(Number(last) / 25) : 0
    t.ok(searches >= due && searches < due + 20, `${searches} searches`)
    answers.push(
      ['user:1', 'one-to-room:R1'].map((ch) => client.eventsOf(ch).map(({ position, prev }) => [position, prev])),
    )
    await client.close()
  }
  const [one, two] = toUser.map(String)
  const expected = [
    [
      [one, null],
      [two, one],
    ],
    [[String(before), null]],
  ]
  t.strictSame(answers, [expected, expected, expected])
})

/** Holds the lock of the instance that stores the messages of users, as if it had been suspended. */
async function keepFromStoring(t: Scope, { serviceUrl }: TestDatabase): Promise<void> {
  const sleeper = new Client({ connectionString: serviceUrl, pipeline: true })
  const other = new Client({ connectionString: serviceUrl })
  await Promise.all([sleeper.connect(), other.connect()])
  // Waits until the current owner of the lock is terminated.
  const asleep = sleeper.query('select pg_advisory_lock(hashtextextended($1, 0))', [
    lockName(serviceUrl, 'ledger follower live'),
  ])
  await other.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'follower live' and datname = current_database()`,
  )
  await asleep
  await other.end()
  t.teardown(() => sleeper.end())
}
