import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { proxy } from '../harness/postgres/proxy.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

/** Reads that share no query with each other, and the tables that each of them waits for. */
const reads = {
  '/v1/privilege-wallet': 'privilege_cards',
  '/v1/bag': 'bag_items',
  '/v1/fairness/lucky': 'lucky_progress',
}
const MIN_READERS = 200

test('an overloaded instance is ready, and one without its database is not', {
  skip: onlyInFullRun,
}, async (t) => {
  const { name, ownerUrl, serviceUrl } = await testDatabase()
  const route = await proxy(t, serviceUrl)
  const service = await startService(t, { DATABASE_URL: route.url })
  const get = (path: string, headers = {}) => fetch(`${service.origin}${path}`, { headers })
  const isReady = async (): Promise<boolean> => {
    const response = await get('/readyz')
    await response.body?.cancel()
    return response.status === 200
  }
  const probes = await queryOnce(
    serviceUrl,
    `select 1 from pg_stat_activity where datname = '${name}' and application_name = 'economy readiness'`,
  )
  t.equal(probes.length, 1, 'its own connection is opened at the start')
  const authorization = `Bearer ${tokenIn(service.output(), 'user 1')}`
  t.equal((await get('/v1/wallet', { authorization })).status, 200)

  // Reads of three kinds hang, five queries at most: the others wait for one of them.
  const blocker = await connect(ownerUrl, 'lock under test')
  await blocker.query(`begin; lock table ${Object.values(reads).join(', ')} in access exclusive mode`)
  const readers: Promise<number>[] = []
  const addReaders = (): void => {
    for (const path of Object.keys(reads)) readers.push(get(path, { authorization }).then(({ status }) => status))
  }
  const hanging = async (): Promise<unknown> => {
    const [row] = await queryOnce(
      serviceUrl,
      `select count(*)::int as hanging from pg_stat_activity
       where datname = '${name}' and application_name = 'economy reads' and wait_event_type = 'Lock'`,
    )
    return row?.['hanging']
  }
  await until(async () => {
    addReaders()
    return (await hanging()) === 5
  })
  while (readers.length < MIN_READERS) addReaders()
  const reading = Promise.all(readers)
  let answered = false
  void reading.then(() => (answered = true))
  let readinessChecks = 0
  await until(async () => {
    if (answered) return true
    t.equal(await isReady(), true)
    readinessChecks += 1
    return false
  })
  t.ok(readinessChecks > 0)
  t.same(new Set(await reading), new Set([429]))
  await blocker.query('rollback')
  await blocker.end()
  t.equal((await get('/v1/wallet', { authorization })).status, 200)

  await route.down()
  await until(async () => !(await isReady()))
  t.equal(await isReady(), false, 'the database is unreachable')
  await route.up()
  await until(isReady)
  t.equal((await get('/v1/wallet', { authorization })).status, 200)
})

test('an instance whose commands wait without a commit is not ready', {
  skip: onlyInFullRun,
}, async (t) => {
  const { ownerUrl, serviceUrl } = await testDatabase()
  const service = await startService(t, { DATABASE_URL: serviceUrl })
  const readyStatus = async (): Promise<number> => {
    const response = await fetch(`${service.origin}/readyz`)
    await response.body?.cancel()
    return response.status
  }
  const headers = { authorization: `Bearer ${tokenIn(service.output(), 'user 1')}`, 'content-type': 'application/json' }
  const body = '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}'
  const send = async (): Promise<number> =>
    (await fetch(`${service.origin}/v1/instant-send`, { method: 'POST', headers, body })).status

  const blocker = await connect(ownerUrl, 'lock under test')
  await blocker.query('begin; select from ledger_head for update')
  const started = performance.now()
  const waiting = send()
  t.equal(await readyStatus(), 200, 'a command that has just come makes no difference')
  await until(async () => (await readyStatus()) === 503)
  t.ok(performance.now() - started >= 3_000)
  await blocker.query('rollback')
  await blocker.end()
  t.ok([200, 500].includes(await waiting))
  t.equal(await send(), 200)
  t.equal(await readyStatus(), 200)
})
