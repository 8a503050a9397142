import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'tap'
import type { PositionedEvent } from '../../src/ledger/rules/event.ts'
import { eventsAfter } from '../../src/ledger/storage/stored-event.ts'
import type { ChannelKey } from '../../src/realtime/frames/frame-mapper.ts'
import { chatSlices, createRooms, postToRoom, postToUser } from '../harness/app/realtime-fixtures.ts'
import { startInstance, type TestInstance } from '../harness/app/realtime-instance.ts'
import { openTestPool } from '../harness/postgres/connections.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { runs } from '../harness/properties.ts'
import { until } from '../harness/until.ts'
import { indexUpTo } from '../ledger/indexes/index-fixture.ts'
import { ChannelReader } from './channel-reader.ts'
import { mapEvent, NO_PROFILES } from './subscriptions/hub-fixtures.ts'

/** Channels and the users who read them. */
const channels: readonly { readonly key: ChannelKey; readonly ch: string; readonly users: readonly number[] }[] = [
  { key: 'room:1', ch: 'one-to-room:R1', users: [1, 2, 3] },
  { key: 'room:2', ch: 'one-to-room:R2', users: [4, 5, 6] },
  { key: 'user:7', ch: 'user:7', users: [7] },
  { key: 'user:8', ch: 'user:8', users: [8] },
]
const READERS = 8

type Step =
  | { readonly do: 'post'; readonly instance: number; readonly channel: number; readonly times: number }
  | { readonly do: 'connect'; readonly reader: number; readonly instance: number }
  | { readonly do: 'disconnect'; readonly reader: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'index' }
  | { readonly do: 'restart'; readonly instance: number }

const instance = fc.nat({ max: 1 })
const reader = fc.nat({ max: READERS - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('post'),
      instance,
      channel: fc.nat({ max: channels.length - 1 }),
      times: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 24, arbitrary: fc.record({ do: fc.constant('connect'), reader, instance }) },
  { weight: 15, arbitrary: fc.record({ do: fc.constant('disconnect'), reader }) },
  { weight: 18, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat({ max: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('index') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), instance }) },
)

/** What was posted on a channel, from the ledger. */
function historyOf(events: readonly PositionedEvent[], key: ChannelKey) {
  const history: { readonly position: string; readonly prev: string | null; readonly n: unknown }[] = []
  for (const event of events) {
    const [template] = mapEvent(event).get(key) ?? []
    if (template === undefined) continue
    const { n } = JSON.parse(template.json(NO_PROFILES, 'en') ?? '')
    history.push({ position: String(event.position), prev: history.at(-1)?.position ?? null, n })
  }
  return history
}

test('a client that reconnects to any instance gets every event once and in order', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 2, READERS)
  const pool = openTestPool(t, database.serviceUrl, 1)
  const instances: TestInstance[] = [
    await startInstance(t, database, chatSlices),
    await startInstance(t, database, chatSlices),
  ]
  const at = (i: number): TestInstance => {
    const found = instances[i]
    if (found === undefined) throw new Error(`no instance ${i}`)
    return found
  }
  let posted = 0
  const post = (i: number, channel: number): Promise<number> => {
    const [kind, id] = channels[channel]?.key.split(':') ?? []
    const to = kind === 'room' ? postToRoom : postToUser
    return to(at(i), Number(id), (posted += 1))
  }

  const play = async (steps: readonly Step[]): Promise<void> => {
    const readers = channels.flatMap(({ ch, users }) => users.map((user) => new ChannelReader(ch, user)))
    const posts: Promise<number>[] = []
    for (const step of steps) {
      if (step.do === 'post') {
        for (let i = 0; i < step.times; i += 1) posts.push(post(step.instance, step.channel))
      }
      if (step.do === 'connect' && readers[step.reader]?.isConnected === false) {
        readers[step.reader]?.connect(at(step.instance).origin)
      }
      if (step.do === 'disconnect') readers[step.reader]?.disconnect()
      if (step.do === 'wait') await pause(step.ms)
      if (step.do === 'index') await indexUpTo(database, Math.max(0, ...(await Promise.all(posts))))
      if (step.do === 'restart') {
        await Promise.all(posts)
        await at(step.instance).stop()
        instances[step.instance] = await startInstance(t, database, chatSlices)
      }
    }
    await Promise.all(posts)
    for (const [i, reader] of readers.entries()) if (!reader.isConnected) reader.connect(at(i % 2).origin)
    await Promise.all(channels.map((_, channel) => post(channel % 2, channel)))
    const events = await eventsAfter(pool, 0, 100_000)
    const histories = channels.flatMap(({ key, users }) => users.map(() => historyOf(events, key)))
    for (const [i, reader] of readers.entries()) {
      const history = histories[i] ?? []
      const last = Number(history.at(-1)?.position)
      await until(() => Number(reader.since ?? -1) >= last).catch(() => {})
      await reader.end()
      const due = history.filter(
        ({ position }) => reader.subscribedAt !== null && Number(position) > Number(reader.subscribedAt),
      )
      if (JSON.stringify(reader.received) !== JSON.stringify(due) || reader.faults.length > 0) {
        throw new Error(
          `reader ${i}: ${JSON.stringify({ received: reader.received, faults: reader.faults, subscribedAt: reader.subscribedAt, due })}`,
        )
      }
    }
  }

  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 120 }), play), runs(8))
  t.same([...at(0).log, ...at(1).log], [])
  t.ok(posted > 300, `${posted} events`)
})
