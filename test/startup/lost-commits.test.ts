import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { readLastSeen } from '../../src/db/last-seen.ts'
import { sendGift } from '../../src/features/gifts/send.ts'
import { revokeSessions } from '../../src/features/users/user.ts'
import { seededLedger } from '../audit/seed-ledger.ts'
import { verifyDatabase } from '../audit/verify-database.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { nowSeconds } from '../harness/http/tokens.ts'
import { createTestExecutor, queryRows, testChains } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { type Proxy, proxy } from '../harness/postgres/proxy.ts'
import { superuserUrl, type TestDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { type ServiceProcess, startService } from '../harness/process/service.ts'
import { keys, signed } from '../harness/scenario/service-keys.ts'
import { until } from '../harness/until.ts'
import { WebSocketClient } from '../harness/websocket/websocket-client.ts'

const environment = {
  ...keys,
  FAIRNESS_KEY: 'a fairness key for tests',
  PII_KEY: 'a key for personal data, for tests',
  DEMO: '0',
}

interface Restorable {
  readonly database: TestDatabase
  /** The same ledger at an earlier moment. */
  readonly earlier: TestDatabase
  readonly route: Proxy
  /** Puts the earlier one in the place of the other: it has both addresses then. */
  readonly goBack: () => Promise<void>
}

async function restorable(t: Test): Promise<Restorable> {
  const [database, earlier] = [await seededLedger(), await seededLedger()]
  const route = await proxy(t, database.serviceUrl)
  const admin = new URL(await superuserUrl(database))
  admin.pathname = '/postgres'
  return {
    database,
    earlier,
    route,
    goBack: async () => {
      await route.down()
      for (const [from, to] of [
        [database.name, `${database.name}_lost`],
        [earlier.name, database.name],
      ]) {
        await queryRows({ ownerUrl: admin.href }, `alter database ${from} rename to ${to}`)
      }
      await route.up()
    },
  }
}

const start = async (t: Test, env: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
  startService(t, { ...environment, ...env })

/** As user 1, `times` times; answers the positions. */
async function sendGifts({ origin }: ServiceProcess, times: number): Promise<number[]> {
  const positions: number[] = []
  for (let i = 0; i < times; i += 1) {
    const response = await fetch(`${origin}/v1/instant-send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${signed({ sub: '1' })}`, 'content-type': 'application/json' },
      body: JSON.stringify({ u_id: 1, decoration_id: 1, user_id: [2], quantity: 1, room_id: 9 }),
    })
    await response.body?.cancel()
    if (response.status === 200) positions.push(Number(response.headers.get('x-ledger-position')))
  }
  return positions
}

const errorsOf = (service: ServiceProcess): string[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"level":50'))

const headOf = async (database: TestDatabase): Promise<number> =>
  Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])

test('every instance ends when the ledger went back, and none starts before that is dealt with', async (t) => {
  const { database, route, goBack } = await restorable(t)
  const folders = [temporaryFolder(t), temporaryFolder(t)]
  const instances: ServiceProcess[] = []
  for (const DATA_DIR of folders) instances.push(await start(t, { DATABASE_URL: route.url, DATA_DIR }))
  const sockets = instances.map(
    ({ origin }) => new WebSocketClient(origin, { token: signed({ sub: '3' }), keepsFrames: true }),
  )
  for (const socket of sockets) await socket.waitForFrame('ready')
  let seen = 0
  for (const instance of instances) seen = Math.max(seen, ...(await sendGifts(instance, 3)))
  const files = folders.map((folder) => join(folder, 'last-seen'))
  const lastSeen = (): unknown[] => files.map((file) => JSON.parse(readFileSync(file, 'utf8')).position)
  await until(() => lastSeen().every((position) => position === seen))
  for (const file of files) t.equal(statSync(file).mode & 0o777, 0o600)

  await goBack()
  const before = await headOf(database)
  const gone = new RegExp(`The ledger went back from position ${seen} to ${before}: `)
  for (const [i, instance] of instances.entries()) {
    t.equal(await sockets[i]?.waitForClose(), 4200)
    t.equal(await instance.exited, 1)
    const errors = errorsOf(instance)
    t.match(errors, [gone])
    t.equal(errors.length, 1)
  }
  t.equal(await headOf(database), before)
  t.same(lastSeen(), [seen, seen], 'what was seen is kept')
  for (const folder of [...folders.slice(0, 1), temporaryFolder(t)]) {
    const refused = await start(t, { DATABASE_URL: database.serviceUrl, DATA_DIR: folder })
    t.equal(await refused.exited, 1)
    t.match(refused.output(), gone)
    t.match(refused.output(), 'run npm run after-restore')
  }
})

/** What an instance exposes as a metric. */
async function metric({ origin }: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

test('an instance that forwards its commands notices what it answered', { skip: onlyInFullRun }, async (t) => {
  const { database, route, goBack } = await restorable(t)
  const [dataDir, FORWARD_KEY] = [temporaryFolder(t), 'a key that instances share, for tests']
  const network = async () => ({ FORWARD_ADDRESS: `127.0.0.1:${await reservePort()}`, FORWARD_KEY })
  const writer = await start(t, { DATABASE_URL: route.url, DATA_DIR: temporaryFolder(t), ...(await network()) })
  await until(async () => (await metric(writer, 'ledger_is_writer')) === 1)
  const other = await start(t, { DATABASE_URL: route.url, DATA_DIR: dataDir, ...(await network()) })
  await until(async () => (await metric(writer, 'ledger_forwarding_instances')) === 1)
  const answered = Math.max(...(await sendGifts(other, 3)))
  t.equal(await metric(other, 'ledger_forwarded_commands_total'), 3)
  await until(async () => (await readLastSeen(join(dataDir, 'last-seen')))?.position === answered)

  writer.kill('SIGKILL')
  await writer.exited
  await goBack()
  t.equal(await other.exited, 1)
  t.match(errorsOf(other), [`The ledger went back from position ${answered} to ${await headOf(database)}: `])
})

/** What happens to a start once a statement of it waits for a lock; ends with that lock. */
const lossesDuringStart = {
  'this instance notices it': [
    'lock table app_modes in access exclusive mode',
    'update ledger_home set timeline = timeline + 5',
  ],
  'another one has noticed it': [
    'select from ledger_head for update',
    `insert into lost_commits (one, incarnation, reason, ended_at, noticed_at)
     select 1, '${'d'.repeat(32)}', 'another instance noticed it', position, now() from ledger_head`,
  ],
} as const

for (const [what, [lock, loss]] of Object.entries(lossesDuringStart)) {
  for (const mode of ['recover', 'stop'] as const) {
    test(`commits are lost during a start with ON_LOST_COMMITS=${mode}: ${what}`, {
      skip: onlyInFullRun,
    }, async (t) => {
      const database = await seededLedger()
      const client = await openClient(t, database.ownerUrl)
      await client.query(`begin; ${lock}`)
      const env = { DATABASE_URL: database.serviceUrl, DATA_DIR: temporaryFolder(t), ON_LOST_COMMITS: mode }
      const starting = start(t, env)
      const waiting = `select from pg_locks l join pg_stat_activity a using (pid)
                       where not l.granted and a.datname = current_database()`
      await until(async () => (await queryRows(database, waiting)).length > 0)
      await client.query(`${loss}; commit`)
      const service = await starting
      if (mode === 'stop') {
        t.equal(await service.exited, 1)
        t.match(service.output(), /The ledger may have gone back to position \d+: /)
        return
      }
      await until(() => service.output().includes('a new incarnation has begun'))
      await until(async () => (await fetch(`${service.origin}/readyz`).catch(() => null))?.status === 200)
      const restores = await queryRows(database, `select from ledger where type = 'ledger-restored'`)
      t.equal(restores.length, 1)
      service.kill('SIGTERM')
      t.equal(await service.exited, 0)
    })
  }
}

test('with ON_LOST_COMMITS=recover an instance begins an incarnation and forgets what it had', async (t) => {
  const { database, earlier, route, goBack } = await restorable(t)
  const DATA_DIR = temporaryFolder(t)
  const service = await start(t, { DATABASE_URL: route.url, DATA_DIR, ON_LOST_COMMITS: 'recover' })
  const listen = async (): Promise<WebSocketClient> => {
    const socket = new WebSocketClient(service.origin, { token: signed({ sub: '3' }), keepsFrames: true })
    t.teardown(() => socket.close())
    await socket.waitForFrame('ready')
    socket.send({ t: 'sub', i: 1, ch: 'user:3' })
    await socket.waitForFrame('subbed')
    return socket
  }
  const wallet = async (token: string): Promise<Response> => {
    const response = await fetch(`${service.origin}/v1/wallet`, { headers: { authorization: `Bearer ${token}` } })
    await response.body?.cancel()
    return response
  }
  const first = await listen()
  const token = signed({ sub: '2', iat: nowSeconds() - 100 })
  t.equal((await wallet(token)).status, 200)
  const seen = Math.max(...(await sendGifts(service, 20)))

  // Another instance that wrote after the restore, before this one reached the database again.
  const elsewhere = createTestExecutor(t, earlier.serviceUrl)
  await elsewhere.runOk(revokeSessions, { user_id: 2 })
  await elsewhere.executor.close()
  const hash = (await queryRows(database, `select hash from ledger where position = ${seen}`))[0]?.['hash']
  await goBack()
  t.equal(await first.waitForClose(), 4200)
  await until(() => service.output().includes('a new incarnation has begun'))
  await until(async () => (await fetch(`${service.origin}/readyz`).catch(() => null))?.status === 200)
  t.equal((await wallet(token)).status, 440, 'a session that was revoked elsewhere is over')
  const positionOf = async (): Promise<number> =>
    Number((await wallet(signed({ sub: '1' }))).headers.get('x-ledger-position'))
  await until(async () => (await positionOf()) === (await headOf(database)))
  const second = await listen()
  const gift = { caller_id: 1, sender_id: 1, decoration_id: 1, receiver_ids: [3], quantity: 1, room: 9 }
  const { position } = await createTestExecutor(t, database.serviceUrl).run(
    sendGift({ chains: testChains, ownerPercent: 5 }),
    {
      ...gift,
      from_bag: false,
      encrypted: false,
    },
  )
  t.ok(position < seen)
  await second.waitFor(({ frames }) => frames.find((frame) => frame['position'] === String(position)))

  const restores = await queryRows(database, `select position, data from ledger where type = 'ledger-restored'`)
  t.equal(restores.length, 1)
  t.match(JSON.parse(restores[0]?.['data'] ?? ''), { last_known: { position: seen, hash } })
  t.equal(errorsOf(service).length, 1)
  t.same((await verifyDatabase(database)).findings, [])
  service.kill('SIGTERM')
  t.equal(await service.exited, 0)
})
