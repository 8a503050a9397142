import { test } from 'tap'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { type ServiceProcess, startService, tokenIn } from '../../harness/process/service.ts'
import { until } from '../../harness/until.ts'

/** Sends a request to an instance with a token that `first` printed: all have the same keys. */
async function ask(
  { origin }: ServiceProcess,
  token: string,
  path: string,
  { method = 'GET', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; type: string | undefined }> {
  const answer = await fetch(`${origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const responseBody: unknown = await answer.json()
  return { status: answer.status, type: Object(responseBody).type }
}

const skip = onlyInFullRun

test('a switch is in force on the other instance, and stays so without a database', { skip }, async (t) => {
  const database = await testDatabase()
  const dbProxy = await proxy(t, database.serviceUrl)
  const own = { DATA_DIR: temporaryFolder(t), LOG_LEVEL: 'fatal' }
  const first = await startService(t, { ...own, DATABASE_URL: database.serviceUrl })
  const second = await startService(t, { ...own, DATABASE_URL: dbProxy.url })
  const user = tokenIn(first.output(), 'user 1')
  const operator = tokenIn(first.output(), 'operator')
  const set = async (path: string, body: unknown) =>
    t.equal((await ask(first, operator, `/admin/v1${path}`, { method: 'PUT', body })).status, 200, path)
  const wallet = async (instance: ServiceProcess) => (await ask(instance, user, '/api/v1/wallet')).status
  const tell = (instance: ServiceProcess, version: string) =>
    ask(instance, user, '/v1/app-status', { headers: { 'client-type': 'ios', 'client-version': version } })

  t.same([await wallet(first), await wallet(second)], [200, 200])
  await set('/app-mode', { maintenance: true })
  t.equal(await wallet(first), 503, 'at once where it was switched')
  await until(async () => (await wallet(second)) === 503)
  await set('/app-mode', { maintenance: false })
  t.equal(await wallet(first), 200)
  await until(async () => (await wallet(second)) === 200)

  // What a token reported to one instance counts on the other, also when that has another client cached.
  await set('/releases/ios', { version: '3', minimum_version: '2', store_link: 'https://store.example' })
  await until(async () => (await ask(second, user, '/v1/wallet', { headers: { 'client-type': 'ios' } })).status === 426)
  t.equal(await wallet(second), 200, 'an unidentified client')
  t.match(await tell(first, '1'), { status: 200, type: 'update' })
  t.equal(await wallet(first), 426)
  await until(async () => (await wallet(second)) === 426)
  t.match(await tell(first, '2.0'), { status: 200, type: 'update' })
  await until(async () => (await wallet(second)) === 200)
  t.match(await tell(first, '1.9'), { status: 200 })
  await until(async () => (await queryRows(database, `select from told_clients where version = '1.9'`)).length === 2)

  // Another start finds mode, release and what was reported.
  await set('/app-mode', { message: { en: 'A night shift.' } })
  first.kill('SIGKILL')
  await first.exited
  const third = await startService(t, { ...own, DATABASE_URL: dbProxy.url })
  t.equal(await wallet(third), 426)
  await until(async () => (await wallet(second)) === 426)

  await dbProxy.down()
  const status = await ask(third, user, '/v1/app-status', {
    headers: { 'client-type': 'ios', 'client-version': '2.5' },
  })
  t.same(status, { status: 200, type: 'update' }, 'app-status needs no database')
  t.equal(await wallet(second), 426, 'the cached client')
  t.equal(await wallet(third), 500, 'what was reported just now: the gate is open, and the database is unreachable')
  await dbProxy.up()
  await until(async () => (await queryRows(database, `select from told_clients where version = '2.5'`)).length === 2)
  await until(async () => (await wallet(second)) === 200)

  await until(
    async () =>
      (await ask(third, operator, '/admin/v1/app-mode', { method: 'PUT', body: { maintenance: true } })).status === 200,
  )
  await until(async () => (await wallet(second)) === 503)
  await dbProxy.down()
  t.same([await wallet(second), await wallet(third)], [503, 503], 'the last known mode applies')
  const events = await queryRows(
    database,
    `select type, actor from ledger where type like 'app-%' or type like 'release-%'`,
  )
  t.same(new Set(events.map(({ actor }) => actor)), new Set(['staff:operator']))
  t.same(
    events.map(({ type }) => type),
    ['app-mode-set', 'app-mode-set', 'release-defined', 'app-mode-set', 'app-mode-set'],
  )
})
