import { test } from 'tap'
import type { LiveQuery } from '../../src/realtime/frames/live-query.ts'
import { chatSlices, createRooms, postToUser } from '../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, type TestClient } from '../harness/app/realtime-instance.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('who has left their own channel is shown nothing there until they come back', async (t) => {
  const database = await testDatabase(t)
  await createRooms(database, 1, 2)
  const purse: LiveQuery = {
    event: 'purse',
    changedBy: ({ type, data }) => (type === 'bag-items-added' ? [data.user_id] : []),
    read: async (_db, ids) => new Map(ids.map((id) => [id, {}])),
  }
  const instance = await startInstance(t, database, [...chatSlices, { documentedPrefix: '/v1', liveQuery: purse }])
  const [here, away] = [await connectAs(t, instance.origin, 1), await connectAs(t, instance.origin, 1)]
  const shown = ({ frames }: TestClient) => frames.filter(({ event }) => event === 'purse').length
  const seen = async (client: TestClient, count: number) =>
    t.ok(await client.waitFor((c) => (shown(c) === count ? true : undefined)))
  away.send({ t: 'unsub', i: 1, ch: 'user:1' })
  await away.waitForFrame('unsubbed', 1)
  await postToUser(instance, 1)
  await seen(here, 1)
  away.send({ t: 'sub', i: 2, ch: 'user:1' })
  await away.waitForFrame('subbed', 2)
  t.equal(shown(away), 0)
  await postToUser(instance, 1)
  await seen(away, 1)
})
