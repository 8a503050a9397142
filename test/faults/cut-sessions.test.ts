import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { from } from 'pg-copy-streams'
import { test } from 'tap'
import { MonthLock } from '../../src/audit/closings/month-lock.ts'
import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { verify } from '../../src/audit/verify/verify.ts'
import { connect } from '../../src/db/connect.ts'
import { openPool } from '../../src/db/pool.ts'
import { WriterLock } from '../../src/forwarding/writer-lock.ts'
import { PipelinedConnection } from '../../src/ledger/executor/pipelined-connection.ts'
import { Snapshot } from '../../src/ledger/replay/snapshot.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { createTestExecutor, testOpening } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { proxy } from '../harness/postgres/proxy.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { launchProcess } from '../harness/process/service.ts'
import { DEADLINE_MS, until } from '../harness/until.ts'

type Test = Parameters<typeof proxy>[0]

async function ledgerOfOneEvent(t: Test): Promise<TestDatabase> {
  const database = await testDatabase()
  await createTestExecutor(t, database.serviceUrl).runOk(genesis, testOpening)
  return database
}

const all = async (pages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _page of pages) continue
}

/** How a wait ends: `hangs` when it does not. */
const endOf = (waiting: Promise<unknown>): Promise<string> =>
  Promise.race([
    waiting.then(
      () => 'succeeds',
      () => 'fails',
    ),
    sleep(DEADLINE_MS, 'hangs', { ref: false }),
  ])

interface Opened {
  readonly read: () => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** Waits for the database, on a session that was opened before. */
const readers: Readonly<Record<string, (url: string) => Promise<Opened>>> = {
  'a snapshot reads a query': async (url) => {
    const snapshot = await Snapshot.connect(url)
    return { read: () => snapshot.query('select position, hash from ledger'), close: () => snapshot.close() }
  },
  'a snapshot copies rows': async (url) => {
    const snapshot = await Snapshot.connect(url)
    return { read: () => all(snapshot.rows('select * from ledger_events')), close: () => snapshot.close() }
  },
  'a snapshot copies events': async (url) => {
    const snapshot = await Snapshot.connect(url)
    return { read: () => all(snapshot.events(1, null)), close: () => snapshot.close() }
  },
  'a table is filled by COPY': async (url) => {
    const client = await connect(url, 'test')
    await client.query('create temporary table filled (number int)')
    const copy = () => client.query(from('copy filled from stdin'))
    return { read: () => pipeline(Readable.from(['1\n', '2\n']), copy()), close: () => client.end() }
  },
  'a pool reads': async (url) => {
    const pool = openPool(url, { max: 1, application_name: 'test' }, { warn: () => {} })
    await pool.query('select 1')
    return { read: () => pool.query('select $1::int as one', [1]), close: () => pool.end() }
  },
  'a pipeline commits': async (url) => {
    const connection = await PipelinedConnection.connect(url, 'test')
    const statement = (text: string) => ({ name: '', text, values: [] })
    const statements = ['begin', 'select position from ledger_head for update', 'commit'].map(statement)
    return { read: () => connection.query(statements), close: () => connection.close() }
  },
  'the writer’s lock is acquired': async (url) => {
    const lock = await WriterLock.connect(url)
    return { read: () => lock.tryAcquire(), close: () => lock.close() }
  },
}

for (const [name, open] of Object.entries(readers)) {
  test(`${name}: a session that is cut after any message ends it`, async (t) => {
    const { serviceUrl } = await ledgerOfOneEvent(t)
    const dbProxy = await proxy(t, serviceUrl)
    let end = ''
    for (let messages = 1; end !== 'succeeds'; messages += 1) {
      const { read, close } = await open(dbProxy.url)
      const cutsBefore = dbProxy.cuts
      dbProxy.cutAfter(messages)
      end = await endOf(read())
      const wasCut = dbProxy.cuts > cutsBefore
      t.not(end, 'hangs', `after message ${messages}`)
      t.ok(wasCut || end === 'succeeds')
      t.not(await endOf(close()), 'hangs', `closing it after message ${messages}`)
      if (end === 'hangs') return
    }
  })
}

/** Opens sessions of its own. */
const commands: Readonly<
  Record<string, (database: TestDatabase, through: (url: string) => string) => Promise<unknown>>
> = {
  'a connection': async ({ serviceUrl }, through) => (await connect(through(serviceUrl), 'test')).end(),
  'a lock of a month': async ({ serviceUrl }, through) =>
    (await MonthLock.forSteps(through(serviceUrl), '2026-10'))?.close(),
  'a verification': ({ serviceUrl }, through) =>
    verify(through(serviceUrl), {
      asOf: null,
      checkpoint: null,
      progress: () => {},
      signal: new AbortController().signal,
    }),
  'a rebuild': ({ ownerUrl }, through) =>
    rebuild(through(ownerUrl), { progress: () => {}, signal: new AbortController().signal }),
}

/** A command of hundreds of messages is cut after some of them only: a prime number, so that all kinds come up. */
const STRIDES: Readonly<Record<string, number>> = { 'a verification': 5, 'a rebuild': 37 }

for (const [name, run] of Object.entries(commands)) {
  test(`${name} ends when a session is cut after any message`, { skip: onlyInFullRun }, async (t) => {
    const database = await ledgerOfOneEvent(t)
    const dbProxy = await proxy(t, database.serviceUrl)
    const through = (url: string): string => {
      const address = new URL(url)
      address.port = new URL(dbProxy.url).port
      return address.href
    }
    let end = ''
    for (let messages = 1; end !== 'succeeds'; messages += STRIDES[name] ?? 1) {
      dbProxy.cutAfter(messages)
      end = await endOf(run(database, through))
      t.not(end, 'hangs', `after message ${messages}`)
      if (end === 'hangs') return
    }
  })
}

/** Command lines, and what they ask when the database falls silent. */
const waiting: readonly (readonly [args: readonly string[], text: string])[] = [
  [['scripts/audit.ts', 'verify'], 'from ledger_head'],
  [['scripts/audit.ts', 'export', '--format', 'jsonl'], 'copy ('],
  [['scripts/audit.ts', 'rebuild'], 'from ledger_head'],
  [['scripts/audit.ts', 'trial-balance'], 'ledger_head'],
  [['scripts/roulette-purge.ts', '--older-than', '5'], 'roulette_games'],
]

for (const [args, text] of waiting) {
  test(`SIGTERM ends ${args.join(' ')} while the database is silent`, { skip: onlyInFullRun }, async (t) => {
    const { serviceUrl, ownerUrl } = await ledgerOfOneEvent(t)
    const [service, owner] = [await proxy(t, serviceUrl), await proxy(t, ownerUrl)]
    for (const each of [service, owner]) each.silenceAt(text)
    const environment = { DATABASE_URL: service.url, DATABASE_OWNER_URL: owner.url, DATA_DIR: temporaryFolder(t) }
    const command = launchProcess(t, args, environment, 0)
    await until(() => service.silenced + owner.silenced > 0)
    command.kill('SIGTERM')
    t.equal(await command.exited, args[0] === 'scripts/audit.ts' ? 2 : 1)
    t.match(command.output(), /ended by SIGTERM|did not stop in time/)
  })
}
