import { pino } from 'pino'
import { test } from 'tap'
import { openPool } from '../../../src/db/pool.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { startLedgerClock } from '../../../src/startup/background.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

test('a ledger that is ahead of its clock is measured, and logged once when that begins and ends', async (t) => {
  const database = await testDatabase()
  const lines: { readonly level: number; readonly msg: string; readonly seconds?: number }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const subscriberPool = openPool(database.serviceUrl, { max: 1, application_name: 'ledger clock under test' }, log)
  const metrics = new Metrics()
  const stack = new AsyncDisposableStack()
  t.teardown(() => subscriberPool.end())
  t.teardown(() => stack.disposeAsync())
  const measured = async (): Promise<number> => {
    const text = await metrics.registry.getSingleMetricAsString('ledger_clock_ahead_seconds')
    return Number(/^ledger_clock_ahead_seconds (\S+)$/m.exec(text)?.[1])
  }
  const setHead = (hours: number) =>
    queryRows(database, `update ledger_head set at = clock_timestamp() + interval '${hours} hours'`)

  await setHead(-1)
  startLedgerClock({ subscriberPool }, metrics, log, stack, 1)
  for (const hours of [72, 1]) {
    lines.length = 0
    t.equal(await measured(), 0)
    await setHead(hours)
    await until(async () => (await measured()) > 0)
    const before = await measured()
    t.ok(before <= hours * 3_600 && before > hours * 3_600 - 600)
    await until(async () => (await measured()) < before)
    await setHead(0)
    await until(async () => (await measured()) === 0)
    await until(() => lines.length > 1)
    t.match(lines, [
      { level: 40, msg: /^the ledger is ahead of its clock: /, seconds: Number },
      { level: 30, msg: 'the ledger is no longer ahead of its clock' },
    ])
    t.equal(lines.length, 2)
  }
})
