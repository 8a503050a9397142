import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { bearer, token } from '../../harness/app/minimal-app.ts'
import { chatSlices, createRooms, postToRoom } from '../../harness/app/realtime-fixtures.ts'
import { connectAs, startInstance, TestClient } from '../../harness/app/realtime-instance.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

/** Two of them are long enough for the reader, which runs in the same process on a busy machine. */
const HEARTBEAT_MS = 5_000
/** The posted text has 20 KB. */
const LONG = 3_000_001

test('a client that takes nothing is closed with 4201 however little waits, one that reads is not', async (t) => {
  const database = await testDatabase()
  await createRooms(database, 1, 12)
  const instance = await startInstance(t, database, chatSlices, { times: { heartbeat: HEARTBEAT_MS } })
  const closes = async (code: number): Promise<boolean> =>
    (await instance.metrics.registry.metrics()).includes(`live_closes_total{code="${code}"} 1`)
  const metric = async (name: string): Promise<number> => {
    const lines = (await instance.metrics.registry.metrics()).split('\n')
    return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length))
  }
  const idle = await connectAs(t, instance.origin, 1)
  const reader = await connectAs(t, instance.origin, 2)
  const silent = new TestClient(instance.origin, { headers: bearer(token({ sub: '3' })) })
  t.teardown(() => silent.close())
  for (const client of [reader, silent]) {
    await client.waitForFrame('ready')
    client.send({ t: 'sub', ch: 'one-to-room:R1' })
    await client.waitForFrame('subbed')
  }
  silent.ws.pause()
  // Less than a megabyte, of which its system takes a part.
  let posted = 0
  while (posted < 10) await postToRoom(instance, 1, LONG + (posted += 1))
  t.equal(await metric('live_sockets'), 3)
  t.equal(await metric('live_sockets_by_state{state="authenticated"}'), 3)
  await until(async () => {
    // The metrics are costly.
    await pause(100)
    return closes(4201)
  })
  t.equal(await metric('live_sockets_by_state{state="closing"}'), 1)
  t.ok((await metric('live_flush_duration_seconds_count')) > 0)
  await reader.waitFor((c) => (c.eventsOf('one-to-room:R1').length === 2 * posted ? true : undefined))
  silent.ws.resume()
  t.equal(await silent.waitForClose(), 4201)
  const seen = silent.eventsOf('one-to-room:R1')
  t.same(seen, reader.eventsOf('one-to-room:R1').slice(0, seen.length))
  t.same([idle.code, reader.code], [undefined, undefined])
})
