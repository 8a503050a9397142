import { pino } from 'pino'
import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { startIndexes } from '../../../src/startup/background.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { until } from '../../harness/until.ts'
import { grownLedger, untilIndexed } from '../../ledger/indexes/index-fixture.ts'

test('the thread of the index says when it cannot write and when it can again, and ends with the service', async (t) => {
  const database = await grownLedger()
  const lines: { readonly level: number; readonly msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const subscriberPool = openPool(database.serviceUrl, { max: 1, application_name: 'indexes under test' }, log)
  const stack = new AsyncDisposableStack()
  t.teardown(() => subscriberPool.end())
  t.teardown(() => stack.disposeAsync())
  await queryRows(database, 'alter table ledger_index rename to moved_index')
  startIndexes({ url: database.serviceUrl, subscriberPool }, new Metrics(), log, stack)
  await until(() => lines.length > 0)
  t.match(lines, [
    {
      level: 40,
      msg: /^indexes of the ledger not written.+ npm run audit -- rebuild --full writes them again$/,
      err: { message: /"ledger_index" does not exist/ },
    },
  ])
  await queryRows(database, 'alter table moved_index rename to ledger_index')
  await untilIndexed(database)
  await until(() => lines.length > 1)
  t.match(lines[1], { level: 30, msg: 'indexes of the ledger are written again' })

  await stack.disposeAsync()
  const sessions = `select from pg_stat_activity where application_name = 'follower indexes' and datname = current_database()`
  await until(async () => (await queryRows(database, sessions)).length === 0)
  t.pass('its session is over')
})

test('a connection that the index cannot have is logged by its code', async (t) => {
  const lines: object[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const subscriberPool = openPool('postgres://127.0.0.1:1/none', { max: 1, application_name: 'none' }, log)
  const stack = new AsyncDisposableStack()
  t.teardown(() => subscriberPool.end())
  t.teardown(() => stack.disposeAsync())
  startIndexes({ url: 'postgres://127.0.0.1:1/none', subscriberPool }, new Metrics(), log, stack)
  await until(() => lines.length > 0)
  t.match(lines, [{ msg: /^indexes of the ledger not written/, err: { code: 'ECONNREFUSED' } }])
})
