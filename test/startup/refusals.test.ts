import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { openDatabase } from '../../src/startup/database.ts'
import { temporaryFolder } from '../harness/app/temporary-folder.ts'
import { createTestExecutor, queryRows, testOpening } from '../harness/ledger/test-executor.ts'
import { isFullRun, onlyInFullRun } from '../harness/long-tests.ts'
import { startPgBouncer, withoutPgBouncer } from '../harness/postgres/pgbouncer.ts'
import { superuserUrl, testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { startService } from '../harness/process/service.ts'
import { production } from '../harness/process/start-options.ts'

type Environment = Readonly<Record<string, string>>

/** Why a start with this environment is refused; otherwise the warnings of the start. */
async function openWith(environment: Environment): Promise<string> {
  const lines: string[] = []
  await using cleanUp = new AsyncDisposableStack()
  try {
    const config = loadConfig({ LEDGER_SCHEMA: testSchema, ...environment })
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) })
    await openDatabase(config, log, new AbortController().signal, cleanUp)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return lines.join('\n')
}

test('a service that cannot start says why in one message', async (t) => {
  const database = await testDatabase()
  const [other, fresh, careless] = await Promise.all([testDatabase(), testDatabase(), testDatabase()])
  const unguarded = await testDatabase()
  await queryRows(
    { ownerUrl: await superuserUrl(unguarded) },
    `alter database ${unguarded.name} set session_replication_role = replica`,
  )
  const { serviceUrl: DATABASE_URL } = database
  const DATA_DIR = temporaryFolder(t)
  t.equal(await openWith({ DATABASE_URL, DATA_DIR }), '')
  t.equal(await openWith({ DATABASE_URL: other.serviceUrl, DATA_DIR: temporaryFolder(t) }), '')
  for (const [fairness_key, { serviceUrl }] of [
    ['a'.repeat(64), database],
    ['b'.repeat(64), other],
  ] as const) {
    await createTestExecutor(t, serviceUrl).runOk(genesis, { ...testOpening, fairness_key })
  }
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  const elsewhere = temporaryFolder(t)
  const changed = { FAIRNESS_KEY: 'another key that was never used', PII_KEY: 'another key that was never used' }
  const attempts: readonly (readonly [Environment, RegExp])[] = [
    [{ RATE_LIMIT: 'often', LOG_LEVEL: 'loud' }, /^The environment has faults: RATE_LIMIT .*; LOG_LEVEL .*$/],
    [
      { DATABASE_URL: DATABASE_URL.replace(database.name, 'none') },
      /^DATABASE_URL cannot be used: .* "none" does not .*$/,
    ],
    [
      { DATABASE_READ_URL: other.serviceUrl },
      /^DATABASE_READ_URL cannot be used: it holds another ledger than DATABASE_URL; .*$/,
    ],
    [
      { DATABASE_OWNER_URL: DATABASE_URL },
      /^DATABASE_OWNER_URL and DATABASE_URL name the same role, economy_service\. .*$/,
    ],
    [{ DATABASE_URL: '', DATA_DIR: file }, /^DATA_DIR .*file cannot be used: it is a file$/],
    [{ DATA_DIR: file }, /^DATA_DIR .*file cannot be used: it, or something above it, is a file$/],
    [{ DATA_DIR: elsewhere }, /^FAIRNESS_KEY is not given and .*fairness-key\S* does not exist, but .*$/],
    [changed, /^FAIRNESS_KEY and PII_KEY are not what this database was used with before; .*$/],
    [{ ...production, DATABASE_URL: fresh.ownerUrl }, /^The role of DATABASE_URL may change events of the ledger.*$/],
    [
      { DATABASE_URL: careless.ownerUrl, DATA_DIR: temporaryFolder(t) },
      /^The role .*; production would refuse to start$/,
    ],
    [
      { DATABASE_URL: unguarded.serviceUrl, DATA_DIR: temporaryFolder(t) },
      /^The database has session_replication_role replica: no trigger .* Refusing to start: .*$/,
    ],
  ]
  for (const [environment, expected] of attempts) {
    t.match(await openWith({ DATABASE_URL, DATA_DIR, ...environment }), expected)
  }
  t.same(readdirSync(elsewhere), [], 'no useless key is generated')
  const kept = await queryRows(database, 'select name from key_fingerprints order by name')
  t.same(
    kept.map(({ name }) => name),
    ['checkpoint', 'checkpoint public key', 'fairness', 'pii'],
  )
})

test('a database with ctype C is warned of', { skip: onlyInFullRun }, async (t) => {
  const database = await testDatabase()
  const name = `${database.name}_c`
  await queryRows(
    { ownerUrl: await superuserUrl(database) },
    `create database ${name} template template0 owner economy_owner encoding 'UTF8' locale_provider libc locale 'C'`,
  )
  const DATABASE_URL = database.ownerUrl.replace(database.name, name)
  t.match(await openWith({ DATABASE_URL, DATA_DIR: temporaryFolder(t) }), /^The database has LC_CTYPE C: in SQL, /m)
})

test('a database that is not in UTF-8 is refused by the name of its encoding', async (t) => {
  const database = await testDatabase()
  for (const encoding of ['SQL_ASCII', 'LATIN1']) {
    const name = `${database.name}_${encoding.toLowerCase()}`
    await queryRows(
      { ownerUrl: await superuserUrl(database) },
      `create database ${name} template template0 owner economy_owner encoding '${encoding}' locale_provider libc locale 'C'`,
    )
    const DATABASE_URL = database.ownerUrl.replace(database.name, name)
    t.match(
      await openWith({ DATABASE_URL, DATA_DIR: temporaryFolder(t) }),
      `The database has the encoding ${encoding}; `,
    )
  }
})

test('a refused start ends the process with one message', async (t) => {
  const { serviceUrl: DATABASE_URL } = await testDatabase()
  const port = await reservePort()
  const blocker = createServer().listen(port, '127.0.0.1')
  t.teardown(() => blocker.close())
  const embedded = temporaryFolder(t)
  const environments = [{ DATABASE_URL, DATA_DIR: temporaryFolder(t) }, ...(isFullRun ? [{ DATA_DIR: embedded }] : [])]
  for (const environment of environments) {
    const service = await startService(t, environment, port)
    t.equal(await service.exited, 1)
    const lines = service.output().split('\n')
    t.same(
      lines.filter((line) => line !== '' && !line.startsWith('{')),
      [`Cannot listen on 127.0.0.1 port ${port}: the port is in use; set PORT to another one.`],
    )
    t.notMatch(service.output(), 'idle database connection broke')
  }
  t.notOk(existsSync(join(embedded, 'postgres', 'postmaster.pid')), 'no PostgreSQL keeps running')
})

test('a pooler that shares sessions is refused', { skip: withoutPgBouncer }, async (t) => {
  const { serviceUrl } = await testDatabase()
  const DATA_DIR = temporaryFolder(t)
  for (const mode of ['transaction', 'statement'] as const) {
    const pooled = await startPgBouncer(t, serviceUrl, mode)
    for (const [variable, urls] of [
      ['DATABASE_URL', { DATABASE_URL: pooled }],
      ['DATABASE_READ_URL', { DATABASE_URL: serviceUrl, DATABASE_READ_URL: pooled }],
    ] as const) {
      t.match(
        await openWith({ ...urls, DATA_DIR }),
        new RegExp(`^${variable} cannot be used: a pooler in between shares sessions .* Set pool_mode to session`),
      )
    }
  }
})
