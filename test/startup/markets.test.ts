import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'tap'
import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { connect } from '../../src/db/connect.ts'
import { channelName, lockName } from '../../src/db/ledger-url.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openPool } from '../../src/db/pool.ts'
import { grantService } from '../../src/db/roles.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { Tail } from '../../src/ledger/subscriptions/tail.ts'
import { runAudit } from '../audit/run-audit.ts'
import { seedLedger } from '../audit/seed-ledger.ts'
import { tamper, verifyDatabase } from '../audit/verify-database.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { emptyDatabase, type TestDatabase } from '../harness/postgres/test-database.ts'
import { startService, tokenIn } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Two ledgers in one database, neither of which is in the other's schema. */
async function twoMarkets(): Promise<readonly [TestDatabase, TestDatabase]> {
  const first = await emptyDatabase('public')
  const inSecond = (url: string): string => url.replace('schema=public', 'schema=market_2')
  const second = { ...first, ownerUrl: inSecond(first.ownerUrl), serviceUrl: inSecond(first.serviceUrl) }
  return [first, second]
}

async function migrated(markets: readonly TestDatabase[]): Promise<void> {
  await Promise.all(
    markets.map(async ({ ownerUrl }) => {
      await migrate(ownerUrl)
      await grantService(ownerUrl, 'economy_service')
    }),
  )
}

/** What `npm run token` prints for user 1. */
async function printToken(environment: Readonly<Record<string, string>>): Promise<string> {
  const env = { PATH: process.env['PATH'], ...environment }
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/token.ts', '--user', '1'], {
    cwd: root,
    env,
  })
  return stdout.trim()
}

const gift = (price: number) => ({ decoration_id: 1, name: 'rose', kind: 'standard', price }) as const

const build = ({ ownerUrl }: TestDatabase) =>
  rebuild(ownerUrl, { progress: () => {}, signal: new AbortController().signal })

test('two markets in one database do not touch each other', { skip: onlyInFullRun }, async (t) => {
  const markets = await twoMarkets()
  const [first, second] = markets
  await migrated(markets)
  await seedLedger(t, first)
  const before = await queryRows(first, 'select hash, batch from ledger_head')
  t.same(await queryRows(second, 'select position from ledger_head'), [{ position: '0' }])

  const { runOk, failures } = createTestExecutor(t, second.serviceUrl)
  await runOk(defineDecoration, gift(7))
  t.match(await verifyDatabase(second), { position: 1, findings: [] })
  t.same(await queryRows(second, 'select price from decorations'), [{ price: '7' }])
  t.same(await queryRows(first, 'select hash, batch from ledger_head'), before)
  t.match(await verifyDatabase(first), { position: 22, findings: [] })

  await tamper(second, 'delete from decorations')
  t.match((await verifyDatabase(second)).findings, [{ check: 'projection' }])
  t.same((await verifyDatabase(first)).findings, [])
  t.match(await build(second), { position: 1 })
  t.same(await queryRows(second, 'select price from decorations'), [{ price: '7' }])
  t.same(await queryRows(first, 'select hash, batch from ledger_head'), before, 'only one was rebuilt')
  t.match(await verifyDatabase(first), { position: 22, findings: [] })
  t.same(failures, [])
})

test('two markets in one database are not notified of each other', { skip: onlyInFullRun }, async (t) => {
  const markets = await twoMarkets()
  await migrated(markets)
  const notifications: string[] = []
  const ends: { readonly market: string; readonly seen: number[]; readonly commit: () => Promise<unknown> }[] = []
  for (const [market, database] of Object.entries(markets)) {
    const pool = openPool(database.serviceUrl, { max: 4, application_name: 'test' })
    const failureLog = { failed: (error: unknown) => t.fail(String(error)), succeeded: () => {} }
    const tail = new Tail({ url: database.serviceUrl, pool, failureLog, pollMs: 20 })
    const ledger = createTestExecutor(t, database.serviceUrl, {}, (events) => tail.publish(events))
    const listener = await connect(database.serviceUrl, 'test')
    t.teardown(async () => {
      await tail.stop()
      await Promise.all([pool.end(), listener.end()])
    })
    listener.on('notification', ({ payload }) => notifications.push(`${market}: ${payload}`))
    await listener.query(`listen ${channelName(database.serviceUrl, 'ledger')}`)
    const seen: number[] = []
    // The names are the same in both: each holds the lock of its own market.
    tail.subscribeDurable('live', (events) => seen.push(...events.map(({ position }) => position)) > 0)
    tail.start()
    let price = 0
    ends.push({ market, seen, commit: () => ledger.runOk(defineDecoration, gift((price += 1))) })
  }
  const [first, second] = ends
  for (let i = 1; i <= 3; i += 1) {
    await first?.commit()
    await until(() => first?.seen.length === i && notifications.length === i)
  }
  t.same(second?.seen, [])
  await second?.commit()
  await until(() => second?.seen.length === 1 && notifications.length === 4)
  // What the first market hears after this cannot be late news of the second one.
  await first?.commit()
  await until(() => first?.seen.length === 4 && notifications.length === 5)
  t.same([first?.seen, second?.seen], [[1, 2, 3, 4], [1]])
  t.same(notifications, ['0: 1', '0: 2', '0: 3', '1: 1', '0: 4'])
})

test('two markets in one database do not block each other', { skip: onlyInFullRun }, async (t) => {
  const markets = await twoMarkets()
  const [first, second] = markets
  await migrated([first])
  const holder = await openClient(t, first.ownerUrl)
  const locks = ['migrations', 'grants', 'rebuild'].map((of) => `ledger ${of}`)
  for (const lock of [...locks, 'ledger follower live']) {
    await holder.query('select pg_advisory_lock(hashtextextended($1, 0))', [lockName(first.ownerUrl, lock)])
  }
  await holder.query('begin; lock table ledger_head, replies, decorations, balances in access exclusive mode')

  await migrated([second])
  const { runOk, failures } = createTestExecutor(t, second.serviceUrl)
  await runOk(defineDecoration, gift(7))
  t.match(await build(second), { position: 1 })
  t.match(await verifyDatabase(second), { position: 1, findings: [] })
  t.same(failures, [])
  await t.rejects(build(first), { message: 'Another rebuild is running.' }, 'the locks are those of the first')
})

test('the service role gets nothing in other schemas than its own', async (t) => {
  const [first, second] = await twoMarkets()
  await migrate(first.ownerUrl)
  await migrated([second])
  await t.rejects(queryRows({ ...first, ownerUrl: first.serviceUrl }, 'select from ledger'), { code: '42501' })
  await queryRows({ ...second, ownerUrl: second.serviceUrl }, 'select from ledger')
  const pending = second.ownerUrl.replace('market_2', 'market_3')
  await t.rejects(migrate(second.serviceUrl.replace('market_2', 'market_3')), {
    name: 'MigrationError',
    message: /^Schema market_3 of the database lacks 0001-ledger, .* role economy_service may not migrate\./,
  })
  t.ok((await migrate(pending)).length > 10, 'the owner makes the schema')
})

test('services of two markets run on one database', { skip: onlyInFullRun }, async (t) => {
  const [database] = await twoMarkets()
  const { ownerUrl, serviceUrl } = database
  const plain = (url: string): string => url.replace('?schema=public', '')
  const services = []
  const DATA_DIR = temporaryFolder(t)
  for (const LEDGER_SCHEMA of ['public', 'market_2']) {
    const environment = {
      DATABASE_URL: plain(serviceUrl),
      DATABASE_OWNER_URL: plain(ownerUrl),
      DATA_DIR,
      LEDGER_SCHEMA,
    }
    services.push({ environment, service: await startService(t, environment) })
  }
  const [first, second] = services
  if (first === undefined || second === undefined) throw new Error('two were started')
  const send = (origin: string, token: string) =>
    fetch(`${origin}/v1/instant-send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: '{"u_id":1,"decoration_id":1,"user_id":[2],"quantity":1,"room_id":1}',
    })
  const before = await runAudit(first.environment, 'verify')
  const sent = await send(second.service.origin, tokenIn(second.service.output(), 'user 1'))
  t.equal(sent.status, 200)
  const crossed = await send(first.service.origin, tokenIn(second.service.output(), 'user 1'))
  t.equal(crossed.status, 401, 'a token of the other market')
  const printed = await printToken(second.environment)
  t.equal((await send(second.service.origin, printed)).status, 200, 'a token of npm run token')
  t.equal((await send(first.service.origin, printed)).status, 401)
  const keyFiles = ['checkpoint-key', 'fairness-key', 'jwt-secret', 'pii-key'].flatMap((name) => [
    name,
    `${name}-market_2`,
  ])
  t.same(
    readdirSync(DATA_DIR)
      .filter((name) => !name.endsWith('.sock') && !name.startsWith('last-seen'))
      .sort(),
    keyFiles,
  )
  const keys = keyFiles.map((name) => readFileSync(join(DATA_DIR, name), 'utf8'))
  t.equal(new Set(keys).size, keyFiles.length, 'no key is that of another')
  t.match(await runAudit(first.environment, 'verify'), { code: 0, out: before.out.replace(/ in .*\n/, '') })
  t.match(await runAudit(second.environment, 'checkpoint'), { code: 0 }, 'signed with the key of its market')
  const positionOf = (out: string): number => Number(/position (\d+)/.exec(out)?.[1])
  const verified = await runAudit(second.environment, 'verify')
  t.match(verified, { code: 0, out: /^clean: / })
  t.equal(positionOf(verified.out), positionOf(before.out) + 1)
  const own = await send(first.service.origin, tokenIn(first.service.output(), 'user 1'))
  t.equal(own.headers.get('idempotency-replayed'), null, 'keys of retries are those of one market')

  const third = { ...first.environment, LEDGER_SCHEMA: 'market_3' }
  for (const { environment, file } of [
    { environment: third, file: 'fairness-key' },
    { environment: first.environment, file: 'fairness-key-market_2' },
  ]) {
    const FAIRNESS_KEY = readFileSync(join(DATA_DIR, file), 'utf8')
    const sharing = await startService(t, { ...environment, FAIRNESS_KEY })
    t.equal(await sharing.exited, 1)
    t.match(
      sharing.output(),
      /^FAIRNESS_KEY is also the key of the ledger in schema (public|market_2) of this database/m,
    )
  }
  const fingerprints = await queryRows(database, 'select name from market_3.key_fingerprints')
  t.same(fingerprints, [], 'it may start with another key')

  const mixedUp = { ...first.environment, DATABASE_URL: `${plain(serviceUrl)}?schema=market_2` }
  const refused = await startService(t, mixedUp)
  t.equal(await refused.exited, 1)
  t.match(refused.output(), 'The connection string names schema market_2, and LEDGER_SCHEMA is public')
  t.match(await runAudit(mixedUp, 'verify'), { code: 2, err: /names schema market_2/ })
})
