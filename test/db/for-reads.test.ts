import { Kysely, PostgresDialect, sql } from 'kysely'
import { test } from 'tap'
import { Crowded, forReads, openPool } from '../../src/db/pool.ts'
import { problemOf } from '../../src/http/problem.ts'
import { testDatabase } from '../support/postgres.ts'

test('who wants to read when too many wait is sent away at once', async (t) => {
  const { serviceUrl } = await testDatabase(t)
  const pool = openPool(serviceUrl, { max: 1, application_name: 'reads under test' })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: forReads(pool) }) })
  t.teardown(() => db.destroy())
  const read = () => sql`select 1 as one`.execute(db)
  t.match(await read(), { rows: [{ one: 1 }] })
  const only = await pool.connect()
  const waiting = Array.from({ length: 1_000 }, read)
  while (pool.waitingCount < 1_000) await new Promise((resolve) => setImmediate(resolve))
  const refused = await read().catch((error: unknown) => error)
  t.ok(refused instanceof Crowded)
  t.match(problemOf(refused), { status: 429, code: 'overloaded', headers: { 'retry-after': '1' } })
  only.release()
  t.equal((await Promise.all(waiting)).length, 1_000, 'those who waited are served')
  t.match(await read(), { rows: [{ one: 1 }] })
})
