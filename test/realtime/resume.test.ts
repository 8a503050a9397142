import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import { test } from 'tap'
import { chatSlices, createRooms, postToRoom } from '../harness/app/realtime-fixtures.ts'
import { startInstance, type TestInstance } from '../harness/app/realtime-instance.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { runs } from '../harness/properties.ts'
import { until } from '../harness/until.ts'
import { indexUpTo } from '../ledger/indexes/index-fixture.ts'
import { RoomReader } from './room-reader.ts'

const ROOMS = 2
const READERS = 6

type Step =
  | { readonly do: 'post'; readonly instance: number; readonly room: number; readonly times: number }
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
      room: fc.integer({ min: 1, max: ROOMS }),
      times: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 24, arbitrary: fc.record({ do: fc.constant('connect'), reader, instance }) },
  { weight: 15, arbitrary: fc.record({ do: fc.constant('disconnect'), reader }) },
  { weight: 18, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat({ max: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('index') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), instance }) },
)

/** What was posted in a room, from the ledger. */
async function historyOf(database: TestDatabase, room: number) {
  const rows = await queryRows(
    database,
    `select e.position::text, e.data::json ->> 'quantity' as n, lag(e.position) over (order by e.position)::text as prev
     from ledger_events e where e.type = 'gift-sent' and e.data::json ->> 'room_id' = '${room}' order by e.position`,
  )
  return rows.map(({ position, n, prev }) => ({ position, prev, n: Number(n) }))
}

test('a client that reconnects to any instance gets every event once and in order', async (t) => {
  const database = await testDatabase()
  await createRooms(database, ROOMS, READERS)
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

  const play = async (steps: readonly Step[]): Promise<void> => {
    const readers = Array.from({ length: READERS }, (_, i) => new RoomReader((i % ROOMS) + 1, i + 1))
    const posts: Promise<number>[] = []
    for (const step of steps) {
      if (step.do === 'post') {
        for (let i = 0; i < step.times; i += 1) posts.push(postToRoom(at(step.instance), step.room, (posted += 1)))
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
    await Promise.all([1, 2].map((room) => postToRoom(at(room % 2), room, (posted += 1))))
    const histories = [await historyOf(database, 1), await historyOf(database, 2)]
    for (const [i, reader] of readers.entries()) {
      const history = histories[i % ROOMS] ?? []
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
