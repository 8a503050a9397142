import { createServer } from 'node:net'
import { sql } from 'kysely'
import { test } from 'tap'
import { openPool, PoolExhausted, readPool } from '../../src/db/pool.ts'
import { queryBuilder } from '../../src/db/queries/query-builder.ts'
import { problemOf } from '../../src/http/errors/http-error.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { DEADLINE_MS } from '../harness/until.ts'

test('a read is rejected at once when too many wait', async (t) => {
  const { serviceUrl } = await testDatabase()
  const pool = openPool(serviceUrl, { max: 1, application_name: 'reads under test' })
  const db = queryBuilder(readPool(pool))
  t.teardown(() => db.destroy())
  const read = () => sql`select 1 as one`.execute(db)
  t.match(await read(), { rows: [{ one: 1 }] })
  const only = await pool.connect()
  // On a busy machine a thousand reads may take longer than a read may wait; that limit has a test of its own, below.
  pool.options.connectionTimeoutMillis = DEADLINE_MS
  const waiting = Array.from({ length: 1_000 }, read)
  while (pool.waitingCount < 1_000) await new Promise((resolve) => setImmediate(resolve))
  const refused = await read().catch((error: unknown) => error)
  t.ok(refused instanceof PoolExhausted)
  t.match(problemOf(refused), { status: 429, code: 'overloaded', headers: { 'retry-after': '1' } })
  only.release()
  t.equal((await Promise.all(waiting)).length, 1_000, 'those that waited are served')
  t.match(await read(), { rows: [{ one: 1 }] })
})

test('a read without a connection in time is overload while others are served, else an outage', async (t) => {
  const { serviceUrl } = await testDatabase()
  const readsOf = (url: string) => {
    const pool = openPool(url, { max: 1, application_name: 'reads under test' })
    const db = queryBuilder(readPool(pool))
    t.teardown(() => db.destroy())
    return { pool, read: () => sql`select 1 as one`.execute(db).catch((error: unknown) => error) }
  }
  const busy = readsOf(serviceUrl)
  const only = await busy.pool.connect()
  t.match(problemOf(await busy.read()), { status: 429, code: 'overloaded' })
  only.release()
  t.match(await busy.read(), { rows: [{ one: 1 }] })

  // Accepts connections and never answers; it reads, as a socket that does not read stays open.
  const silent = createServer((socket) => void socket.resume())
  t.teardown(() => silent.close())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = Object(silent.address())
  const unreachable = readsOf(`postgres://nobody@127.0.0.1:${port}/nowhere`)
  for (const error of await Promise.all([unreachable.read(), unreachable.read()])) {
    t.match(problemOf(error), { status: 500, code: 'unavailable' })
  }
})

test('a connection that PostgreSQL refuses because it has too many is overload', async (t) => {
  const { name, ownerUrl, serviceUrl } = await testDatabase()
  await queryOnce(ownerUrl, `alter database "${name}" connection limit 1`)
  await openClient(t, serviceUrl)
  const pool = openPool(serviceUrl, { max: 1, application_name: 'reads under test' })
  const db = queryBuilder(readPool(pool))
  t.teardown(() => db.destroy())
  const refused = await sql`select 1`.execute(db).catch((error: unknown) => error)
  t.match(problemOf(refused), { status: 429, code: 'overloaded', headers: { 'retry-after': '1' } })
})
