import { test } from 'tap'
import { chatSlices, createRooms, postToRoom, postToUser } from '../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance } from '../harness/app/realtime-instance.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('what happens in a room comes to its members at once, in order, each with the one before', async (t) => {
  const database = await testDatabase(t)
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
  const told = await postToUser(instance, 1, 5)
  await client.waitFor(({ frames }) => frames.find(({ event }) => event === 'told'))
  t.same(client.eventsOf('one-to-room:R1'), [
    said(second, first, 0, 'said', { n: 2 }),
    said(third, second, 0, 'said', { n: 1_000_001 }),
    { ...said(third, second, 1, 'said-again', { n: 1_000_001 }), enc: 'rot41' },
    said(all, third, 0, 'said', { n: 2_000_001 }),
    { ...said(all, third, 1, 'said-again', { n: 2_000_001 }), enc: 'rot41' },
  ])
  t.same(client.eventsOf('global'), [{ ...said(all, null, 2, 'said', { n: 2_000_001 }), ch: 'global' }])
  t.same(client.eventsOf('user:1'), [{ ...said(told, null, 0, 'told', { n: 5 }), ch: 'user:1' }])
  t.same(instance.log, [])
})

const said = (position: number, prev: number | null, index: number, event: string, data: object) => ({
  t: 'ev',
  ch: 'one-to-room:R1',
  event,
  position: String(position),
  prev: prev === null ? null : String(prev),
  id: `${position}.${index}`,
  data,
})
