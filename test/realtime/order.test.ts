import { test } from 'tap'
import { chatSlices, createRooms, postToRoom, postToUser } from '../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance } from '../harness/app/realtime-instance.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('members of a room get its events at once, in order, each with the previous position', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 2, 3)
  const instance = await startInstance(t, database, chatSlices)
  const first = await postToRoom(instance, 1)
  const client = await connectAs(t, instance.origin, 1)
  client.send({ t: 'sub', i: 1, ch: 'one-to-room:R1' })
  t.match(await client.waitForFrame('subbed', 1), { ch: 'one-to-room:R1', position: String(first), resumed: true })
  const second = await postToRoom(instance, 1, 2)
  await postToRoom(instance, 2)
  const third = await postToRoom(instance, 1, 1_000_001)
  const all = await postToRoom(instance, 1, 2_000_001)
  const posted = await postToUser(instance, 1, 5)
  await client.waitFor(({ frames }) => frames.find(({ event }) => event === 'message-received'))
  t.same(client.eventsOf('one-to-room:R1'), [
    frame(second, first, 0, 'message-posted', { n: 2 }),
    frame(third, second, 0, 'message-posted', { n: 1_000_001 }),
    { ...frame(third, second, 1, 'message-repeated', { n: 1_000_001 }), enc: 'rot41' },
    frame(all, third, 0, 'message-posted', { n: 2_000_001 }),
    { ...frame(all, third, 1, 'message-repeated', { n: 2_000_001 }), enc: 'rot41' },
  ])
  t.same(client.eventsOf('global'), [{ ...frame(all, null, 2, 'message-posted', { n: 2_000_001 }), ch: 'global' }])
  t.same(client.eventsOf('user:1'), [{ ...frame(posted, null, 0, 'message-received', { n: 5 }), ch: 'user:1' }])
  t.same(instance.log, [])
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
