import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { FailureLog } from '../../src/db/log.ts'
import { openPool } from '../../src/db/pool.ts'
import { isConnectionError } from '../../src/db/postgres-errors.ts'
import { queryBuilder } from '../../src/db/queries/query-builder.ts'
import { createLogger } from '../../src/http/observability/logging.ts'
import { Unavailable } from '../../src/ledger/executor/failures.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { Tail } from '../../src/ledger/subscriptions/tail.ts'
import { createTestExecutor, testOpening } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { type Proxy, proxy } from '../harness/postgres/proxy.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

test('a read whose connection breaks fails alone', async (t) => {
  const database = await testDatabase()
  const dbProxy = await proxy(t, database.serviceUrl)
  const pool = openPool(dbProxy.url, { max: 2, application_name: 'test' }, { warn: () => {} })
  const db = queryBuilder(pool)
  t.teardown(() => db.destroy())
  const reading = sql`select pg_sleep(60)`.execute(db)
  reading.catch(() => {})
  await until(async () => {
    const client = await connect(database.serviceUrl, 'test')
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    )
    await client.end()
    return rowCount === 1
  })
  await dbProxy.down()
  // Only the query gets the error: an `error` event without a listener would end this process.
  t.ok(isConnectionError(await reading.catch((error: unknown) => error)))
  await dbProxy.up()
  t.match(await sql`select 1 as one`.execute(db), { rows: [{ one: 1 }] })
})

test('an outage of the database is logged with two lines', async (t) => {
  const database = await testDatabase()
  const dbProxy = await proxy(t, database.serviceUrl)
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => lines.push(line) })
  const pool = openPool(dbProxy.url, { max: 2, application_name: 'test' }, { warn: () => {} })
  const failureLog = new FailureLog(log, 'away', 'back')
  let failures = 0
  const counted: Pick<FailureLog, 'failed' | 'succeeded'> = {
    failed: (error, who) => {
      failures += 1
      failureLog.failed(error, who)
    },
    succeeded: (who) => failureLog.succeeded(who),
  }
  const tail = new Tail({ url: dbProxy.url, pool, failureLog: counted, pollMs: 50 })
  t.teardown(async () => {
    await tail.stop()
    await pool.end()
  })
  tail.start()
  tail.subscribe(0, () => {})
  tail.subscribeDurable('one', () => true)
  tail.subscribeDurable('another', () => true)
  await pause(300)
  t.same(lines, [])
  await dbProxy.down()
  await until(() => failures > 10)
  await dbProxy.up()
  await until(() => lines.length === 2)
  await pause(300)
  const [first, second, ...more] = lines.map((line) => JSON.parse(line))
  t.match(first, { msg: 'away', err: { message: String } })
  t.notOk('stack' in first.err)
  t.match(second, { msg: 'back', failures: Number })
  t.ok(second.failures > 5, `${second.failures} tries failed`)
  t.same(more, [])
})

/** When the writer's connection goes silent. */
const moments: readonly (readonly [string, (dbProxy: Proxy) => Promise<void>])[] = [
  [
    'just after the login',
    async (dbProxy) => {
      await dbProxy.down()
      await dbProxy.up()
      dbProxy.silenceAt('lock_timeout')
    },
  ],
  ['at the beginning', async (dbProxy) => dbProxy.silenceAt('begin ')],
  ['at COMMIT', async (dbProxy) => dbProxy.silenceAt('commit\0')],
  [
    'while it reads the outcome of a COMMIT',
    async (dbProxy) => {
      dbProxy.cutAtCommit('answer')
      dbProxy.silenceAt('find batch')
    },
  ],
]

for (const [moment, arrange] of moments) {
  test(`a writer whose server falls silent ${moment} continues with another connection`, {
    skip: onlyInFullRun,
  }, async (t) => {
    const database = await testDatabase()
    const dbProxy = await proxy(t, database.serviceUrl)
    const one = createTestExecutor(t, dbProxy.url, { batchTimeoutMs: 1_000 })
    // That one may give up its first batch while it still connects.
    await createTestExecutor(t, database.serviceUrl).runOk(genesis, testOpening)
    await arrange(dbProxy)
    // As soon as a connection is there again, and the one that went silent no longer holds the head.
    let silences = 0
    for (;;) {
      try {
        t.match((await one.run(genesis, testOpening, { key: 'k' })).reply, { status: 200 })
        break
      } catch (error) {
        t.ok(error instanceof Unavailable)
        silences += 1
      }
    }
    t.ok(silences > 0 && silences <= 10, `${silences} times`)
  })
}
