import { test } from 'tap'
import type { LiveQuery } from '../../src/realtime/frames/live-query.ts'
import { chatSlices, createRooms, postToUser } from '../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, type TestClient } from '../harness/app/realtime-instance.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('a client without its own channel gets no state until it subscribes again', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 1, 2)
  const wallet: LiveQuery = {
    event: 'wallet',
    changedBy: ({ type, data }) => (type === 'bag-items-added' ? [data.user_id] : []),
    read: async (_db, ids) => new Map(ids.map((id) => [id, {}])),
  }
  const instance = await startInstance(t, database, [...chatSlices, { documentedPrefix: '/v1', liveQuery: wallet }])
  const [subscribed, unsubscribed] = [await connectAs(t, instance.origin, 1), await connectAs(t, instance.origin, 1)]
  const shown = ({ frames }: TestClient) => frames.filter(({ event }) => event === 'wallet').length
  const seen = async (client: TestClient, count: number) =>
    t.ok(await client.waitFor((c) => (shown(c) === count ? true : undefined)))
  unsubscribed.send({ t: 'unsub', i: 1, ch: 'user:1' })
  await unsubscribed.waitForFrame('unsubbed', 1)
  await postToUser(instance, 1)
  await seen(subscribed, 1)
  unsubscribed.send({ t: 'sub', i: 2, ch: 'user:1' })
  await unsubscribed.waitForFrame('subbed', 2)
  t.equal(shown(unsubscribed), 0)
  await postToUser(instance, 1)
  await seen(unsubscribed, 1)
})
