import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { connect } from '../../src/db/connect.ts'
import { type LastSeen, lastSeenFile, readLastSeen, writeLastSeen } from '../../src/db/last-seen.ts'
import { openPool } from '../../src/db/pool.ts'
import { credit } from '../../src/features/wallet/balance-move.ts'
import { Unavailable } from '../../src/ledger/executor/failures.ts'
import { type LedgerEnd, type Query, queryOf, readLedgerEnd } from '../../src/ledger/storage/lost-commits.ts'
import { eventsAfter } from '../../src/ledger/storage/stored-event.ts'
import type { Subscriber } from '../../src/ledger/subscriptions/tail.ts'
import { type LedgerWatch, openLedgerWatch } from '../../src/startup/ledger-watch.ts'
import { seededLedger } from '../audit/seed-ledger.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openTestPool } from '../harness/postgres/connections.ts'
import { proxy } from '../harness/postgres/proxy.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'

interface Host {
  readonly file: string
  /** What a start that is refused says; null when it starts. Then it keeps what it has seen. */
  readonly start: (env?: Readonly<Record<string, string>>) => Promise<string | null>
}

const LOST = 'b'.repeat(64)
const coin = { holder: 'user', id: 1, user_id: 1, currency: 'coins', amount: 1, reason: 'test' } as const
const silent = pino({ level: 'silent' })

async function opened(
  t: Test,
  { serviceUrl: url }: TestDatabase,
  DATA_DIR: string,
  env: Readonly<Record<string, string>> = {},
  stop = new AbortController().signal,
): Promise<{ readonly watch: LedgerWatch; readonly close: () => Promise<void> }> {
  const cleanUp = new AsyncDisposableStack()
  const close = (): Promise<void> => cleanUp.disposeAsync()
  t.teardown(close)
  const subscriberPool = openPool(url, { max: 2, application_name: 'test' }, silent)
  cleanUp.defer(() => subscriberPool.end())
  try {
    return {
      watch: await openLedgerWatch(
        { url, subscriberPool },
        loadConfig({ DATA_DIR, ...env }),
        new AbortController(),
        silent,
        stop,
        cleanUp,
      ),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function host(t: Test, database: TestDatabase): Host {
  const DATA_DIR = temporaryFolder(t)
  return {
    file: lastSeenFile(DATA_DIR, 'public'),
    async start(env) {
      try {
        const { close } = await opened(t, database, DATA_DIR, env)
        await close()
        return null
      } catch (error) {
        return String(error)
      }
    },
  }
}

const lostOn = (database: TestDatabase) => queryRows(database, 'select position, ended_at from lost_commits')
const recover = { ON_LOST_COMMITS: 'recover' }

test('a start on a ledger that ends before what was seen is refused, or begins an incarnation', async (t) => {
  const database = await seededLedger()
  const one = host(t, database)
  t.equal(await one.start(), null)
  const seen = await readLastSeen(one.file)
  if (seen === null) throw new Error('nothing was kept')
  t.equal(await one.start(), null, 'a plain restart')
  const two = host(t, database)
  const kept = readFileSync(one.file, 'utf8')
  for (const damaged of ['', 'not json', kept.slice(0, 150), kept.replace(seen.hash, '')]) {
    writeFileSync(two.file, damaged)
    t.match(await two.start(), /last-seen is damaged: .* npm run after-restore, else remove the file/)
    t.equal(readFileSync(two.file, 'utf8'), damaged)
  }
  rmSync(two.file)
  mkdirSync(two.file)
  t.match(await two.start(), /last-seen is damaged/)
  rmdirSync(two.file)
  t.equal(await two.start(), null)
  t.same(await readLastSeen(two.file), seen)
  t.same(await lostOn(database), [])

  const later: LastSeen = { ...seen, position: seen.position + 7, hash: 'a'.repeat(64) }
  await writeLastSeen(one.file, later)
  const gone = new RegExp(
    `The ledger went back from position ${later.position} to ${seen.position}: .*npm run after-restore`,
  )
  t.match(await one.start(), gone)
  t.same(await lostOn(database), [{ position: String(later.position), ended_at: String(seen.position) }])
  t.match(await one.start(), gone)
  t.match(await two.start(), gone, 'on every host')
  t.same(await readLastSeen(one.file), later)

  t.equal(await two.start(recover), null)
  t.same(await lostOn(database), [])
  const [restored] = await queryRows(database, `select position, data from ledger where type = 'ledger-restored'`)
  t.equal(restored?.['position'], String(seen.position + 1))
  t.match(JSON.parse(restored?.['data'] ?? ''), { last_known: { position: later.position, hash: later.hash } })
  t.equal(await one.start(), null, 'a host whose file is from before')
  t.match(await readLastSeen(one.file), { position: seen.position + 1, began_at: Number })
  await writeLastSeen(one.file, { ...later, incarnation: 'c'.repeat(32), began_at: Date.now() * 1000 + 9e9 })
  t.match(await one.start(), /its incarnation c+ is not on it/)
})

test('a start on another timeline needs what was seen, and that no commit can be missing', async (t) => {
  const database = await seededLedger()
  const [one, two] = [host(t, database), host(t, database)]
  t.equal(await one.start(), null)
  const move = (): Promise<unknown> => queryRows(database, 'update ledger_home set timeline = timeline + 5')
  await move()
  t.match(
    await two.start(),
    /The ledger may have gone back to position \d+: its database was timeline 6 of .*after-restore/,
  )
  t.match(await two.start({ DATABASE_SYNCHRONOUS: 'on' }), /may have gone back/, 'of what it has not seen')
  t.same(await lostOn(database), [], 'others may know')
  t.equal(await one.start({ DATABASE_SYNCHRONOUS: 'on' }), null)
  t.equal(await two.start(), null, 'once another instance has said that it is right')

  await move()
  await queryRows(
    database,
    `insert into instances (id, host, pid, version, reads, queue, lag, sockets, role, started_at, seen_at)
     values (gen_random_uuid(), 'other', 1, 'v', '{}', 0, 0, 0, 'writer', now(), now())`,
  )
  const three = host(t, database)
  const waiting = three.start()
  t.equal(await one.start({ DATABASE_SYNCHRONOUS: 'on' }), null)
  t.equal(await waiting, null, 'it waits for one that is alive')

  await move()
  t.match(await one.start(), /may have gone back/)
  t.equal((await lostOn(database)).length, 1)
})

const databaseOf = async (database: TestDatabase): Promise<string> => {
  const client = await connect(database.serviceUrl, 'test')
  try {
    return (await readLedgerEnd(queryOf(client), null)).database
  } finally {
    await client.end()
  }
}

test('a lost ledger is replaced by no other before somebody says so', async (t) => {
  const seeded = host(t, await seededLedger())
  t.equal(await seeded.start(), null)
  const seen = await readLastSeen(seeded.file)
  if (seen === null) throw new Error('nothing was kept')
  for (const [database, before, gone] of [
    [await testDatabase(), seen, `from position ${seen.position} to 0: its database is empty`],
    [
      await seededLedger(),
      { ...seen, ledger: 'b'.repeat(64), position: 5, hash: 'a'.repeat(64) },
      'from position 5 to one before it: its database has another ledger',
    ],
  ] as const) {
    const one = host(t, database)
    const here = await databaseOf(database)
    await writeLastSeen(one.file, { ...before, database: here })
    const refusal =
      `Error: The ledger went back ${gone}. ` +
      `Restore a backup and run npm run after-restore; if another ledger is meant, remove ${one.file}.`
    t.equal(await one.start(), refusal)
    t.equal(await one.start(recover), refusal, 'there is nothing to recover')
    t.same(await readLastSeen(one.file), { ...before, database: here })
    t.same(await lostOn(database), [])
    await writeLastSeen(one.file, before)
    t.equal(await one.start(), null, 'seen in another database, it is not this one’s')
  }
})

test('nothing is written through a connection to a standby, or to a server that is not the ledger’s', async (t) => {
  const [database, other] = [await seededLedger(), await seededLedger()]
  const { watch } = await opened(t, database, temporaryFolder(t))
  /** Asks one of them; `change` may replace parts of what it answers. */
  const ask =
    ({ serviceUrl }: TestDatabase, change: object = {}): Query =>
    async (statement) => {
      const client = await connect(serviceUrl, 'test')
      try {
        const { rows } = await client.query<object>({ ...statement })
        return { rows: rows.map((row) => edited(row, change)) }
      } finally {
        await client.end()
      }
    }
  await watch.assertLedger(ask(database))
  await t.rejects(watch.assertLedger(ask(database, { here: null })), { name: 'DatabaseIsStandby' })
  await t.rejects(
    watch.assertLedger(ask(other, { ledger: LOST })),
    new Unavailable('another server answers than the one of the ledger'),
  )
  t.equal(watch.noticed.aborted, false)
  await watch.assertLedger(ask(database))
})

test('a server that falls silent while it says where the ledger ends is not waited for', async (t) => {
  const database = await seededLedger()
  const writers = await proxy(t, database.serviceUrl)
  const { watch } = await opened(t, database, temporaryFolder(t))
  const writer = createTestExecutor(t, writers.url, {}, () => {}, watch.assertLedger)
  const confirmers = await proxy(t, database.serviceUrl)
  const other = await opened(t, { ...database, serviceUrl: confirmers.url }, temporaryFolder(t))
  for (const route of [writers, confirmers]) route.silenceAt('ledger_end')
  const end: LedgerEnd = {
    position: 1,
    hash: LOST,
    ledger: LOST,
    database: '7/1',
    incarnation: 'c'.repeat(32),
    began_at: 0,
    hash_there: null,
    home: null,
    here: { system: '7', timeline: 1 },
    lost: null,
  }
  const lost: Query = async () => ({ rows: [{ ledger_end: JSON.stringify(end) }] })
  const refused = async (): Promise<void> => {
    const unreachable = new Unavailable('the database cannot be reached')
    // On a busy machine it may not even have connected.
    do await t.rejects(writer.run(credit, coin, { actor: 'staff:ann' }), unreachable)
    while (writers.silenced === 0)
  }
  await Promise.all([refused(), t.rejects(other.watch.assertLedger(lost), /Connection terminated/)])
  t.same([writers.silenced, confirmers.silenced], [1, 1])
  t.equal((await writer.run(credit, coin, { actor: 'staff:ann' })).reply.status, 200)
  await Promise.all([writer.executor.close(), other.close()])
})

/** A row with the end of a ledger, of which parts are replaced. */
function edited(row: object, change: object): object {
  const text: unknown = Reflect.get(row, 'ledger_end')
  return typeof text === 'string' ? { ledger_end: JSON.stringify({ ...JSON.parse(text), ...change }) } : row
}

test('what another ledger says is not taken for what was seen', async (t) => {
  const [database, other] = [await seededLedger(), await seededLedger()]
  for (const [{ serviceUrl }, times] of [
    [database, 1],
    [other, 2],
  ] as const) {
    const { run } = createTestExecutor(t, serviceUrl)
    for (let i = 0; i < times; i += 1) await run(credit, coin, { actor: 'staff:ann', key: `${serviceUrl} ${i}` })
  }
  const pool = openTestPool(t, other.serviceUrl, 1)
  const { watch } = await opened(t, database, temporaryFolder(t))
  let hand: Subscriber | undefined
  await watch.start({ subscribe: (_after, subscriber) => void (hand = subscriber) })
  const events = await eventsAfter(pool, 0, 500)
  await hand?.(events.slice(0, -1))
  t.throws(() => hand?.(events), /does not follow the one that was seen/)
  t.equal(watch.noticed.aborted, false, 'its own ledger is as it was')
  await queryRows(database, 'update ledger_home set timeline = 5')
  await until(() => watch.noticed.aborted)
  await t.rejects(
    watch.assertLedger(() => Promise.reject(new Error('it is not asked'))),
    { name: 'LedgerWentBack' },
  )
})

for (const [what, stops] of [
  ['a start does not wait for a server that falls silent, either', false],
  ['a start that is to stop does not wait at all', true],
] as const) {
  test(what, { skip: !stops && onlyInFullRun }, async (t) => {
    const database = await seededLedger()
    const route = await proxy(t, database.serviceUrl)
    route.silenceAt('ledger_end')
    const stop = new AbortController()
    const start = opened(t, { ...database, serviceUrl: route.url }, temporaryFolder(t), {}, stop.signal)
    const ended = t.rejects(start, /Connection terminated/)
    await until(() => route.silenced === 1)
    const began = performance.now()
    if (stops) stop.abort()
    await ended
    if (stops) t.ok(performance.now() - began < 20_000)
  })
}

test('a file of another user is named, with what to do', async (t) => {
  const { file, start } = host(t, await seededLedger())
  t.equal(await start(), null)
  chmodSync(file, 0)
  // Root may read everything.
  const script = `const { readLastSeen } = await import(process.argv[1])
    if (process.getuid() === 0) process.setuid(65534)
    await readLastSeen(process.argv[2]).catch((error) => console.log(error.message))`
  const module = new URL('../../src/db/last-seen.ts', import.meta.url).href
  const args = ['--input-type=module', '--eval', script, module, file]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  t.match(
    stdout,
    new RegExp(`^${file} belongs to another user: run this as that user, or give it .*: chown \\d+ "${file}"`),
  )
})
