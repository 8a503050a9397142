import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { type ServiceProcess, startService } from '../harness/process/service.ts'
import { dataDir, production } from '../harness/process/start-options.ts'

/** The error message of a service that does not start, without log lines. */
const startError = (service: ServiceProcess): string =>
  service
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'))
    .join('\n')

test('a service that cannot start says why in one message', async (t) => {
  const database = await testDatabase()
  const fresh = await testDatabase()
  const { serviceUrl: DATABASE_URL } = database
  const DATA_DIR = dataDir(t)
  const port = await reservePort()
  const attempt = async (environment: Readonly<Record<string, string>>, onPort: number) => {
    const service = await startService(t, { DATA_DIR, ...environment }, onPort)
    t.equal(await service.exited, 1)
    t.notMatch(service.output(), /idle database connection broke/)
    return startError(service)
  }
  const blocker = createServer().listen(port, '127.0.0.1')
  const embedded = dataDir(t)
  const file = join(dataDir(t), 'file')
  writeFileSync(file, '')
  const elsewhere = dataDir(t)
  const NOWHERE = 'postgres://nobody@127.0.0.1:1/nowhere'
  t.equal(
    await attempt({ DATABASE_URL }, port),
    `Cannot listen on 127.0.0.1 port ${port}: the port is in use; set PORT to another one.`,
  )
  const other = await testDatabase()
  await attempt({ DATABASE_URL: other.serviceUrl, DATA_DIR: dataDir(t) }, port)

  const changed = { FAIRNESS_KEY: 'another key that was never used', PII_KEY: 'another key that was never used' }
  const attempts: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ DATA_DIR: embedded }, /^Cannot listen on .*$/],
    [
      { DATABASE_URL, RATE_LIMIT: 'often', LOG_LEVEL: 'loud' },
      /^The environment has faults: RATE_LIMIT .*; LOG_LEVEL .*$/,
    ],
    [{ DATABASE_URL: NOWHERE }, /^DATABASE_URL cannot be used: .*ECONNREFUSED.*$/],
    [
      { DATABASE_URL, DATABASE_READ_URL: other.serviceUrl },
      /^DATABASE_READ_URL cannot be used: it holds another ledger than DATABASE_URL; .*$/,
    ],
    [{ DATABASE_URL, DATABASE_OWNER_URL: NOWHERE }, /^DATABASE_OWNER_URL cannot be used: .*ECONNREFUSED.*$/],
    [
      { DATABASE_URL, DATABASE_OWNER_URL: DATABASE_URL },
      /^DATABASE_OWNER_URL and DATABASE_URL name the same role, economy_service\. .*$/,
    ],
    [{ DATA_DIR: file }, /^DATA_DIR .*file cannot be used: it is a file$/],
    [{ DATABASE_URL, DATA_DIR: file }, /^DATA_DIR .*file cannot be used: it, or something above it, is a file$/],
    [{ DATABASE_URL, DATA_DIR: elsewhere }, /^FAIRNESS_KEY is not given and .*fairness-key\S* does not exist, but .*$/],
    [{ DATABASE_URL, ...changed }, /^FAIRNESS_KEY and PII_KEY are not what this database was used with before; .*$/],
    [{ ...production, DATABASE_URL: fresh.ownerUrl }, /^The role of DATABASE_URL may change events of the ledger.*$/],
  ]
  await Promise.all(
    attempts.map(async ([environment, expected]) => t.match(await attempt(environment, port), expected)),
  )
  blocker.close()
  t.notOk(existsSync(join(embedded, 'postgres', 'postmaster.pid')), 'no PostgreSQL keeps running')
  t.same(readdirSync(elsewhere), [], 'no useless key is generated')
  const kept = await queryRows(database, 'select name from key_fingerprints order by name')
  t.same(kept, [{ name: 'checkpoint' }, { name: 'fairness' }, { name: 'pii' }])
})
