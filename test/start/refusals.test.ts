import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { rowsOf } from '../support/ledger.ts'
import { testDatabase } from '../support/postgres.ts'
import { freePort, type ServiceProcess, startService } from '../support/service.ts'
import { dataDir, production } from '../support/start.ts'

/** What a service that does not start says, without what is logged in the meantime. */
const complaint = (service: ServiceProcess): string =>
  service
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'))
    .join('\n')

test('refuses to start, in one clear message', { timeout: 60_000 }, async (t) => {
  const database = await testDatabase(t)
  const fresh = await testDatabase(t)
  const { serviceUrl: DATABASE_URL } = database
  const DATA_DIR = dataDir(t)
  const port = await freePort()
  const attempt = async (environment: Readonly<Record<string, string>>, onPort: number) => {
    const service = await startService(t, { DATA_DIR, ...environment }, onPort)
    t.equal(await service.exited, 1)
    return complaint(service)
  }
  const blocker = createServer().listen(port, '127.0.0.1')
  const embedded = dataDir(t)
  t.equal(
    await attempt({ DATABASE_URL }, port),
    `Cannot listen on 127.0.0.1 port ${port}: the port is in use; set PORT to another one.`,
  )

  const changed = { FAIRNESS_KEY: 'another key that was never used', PII_KEY: 'another key that was never used' }
  const attempts: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ DATA_DIR: embedded }, /^Cannot listen on .*$/],
    [
      { DATABASE_URL, RATE_LIMIT: 'often', LOG_LEVEL: 'loud' },
      /^The environment has faults: RATE_LIMIT .*; LOG_LEVEL .*$/,
    ],
    [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' }, /^.*ECONNREFUSED.*$/],
    [{ DATABASE_URL, ...changed }, /^FAIRNESS_KEY and PII_KEY are not what this database was used with before; .*$/],
    [{ ...production, DATABASE_URL: fresh.ownerUrl }, /^The role of DATABASE_URL may change what is in the ledger.*$/],
    [{ ...production, DATABASE_URL, PII_KEY: '' }, /^.*PII_KEY must be given.*$/],
  ]
  await Promise.all(
    attempts.map(async ([environment, expected]) => t.match(await attempt(environment, port), expected)),
  )
  blocker.close()
  t.notOk(existsSync(join(embedded, 'postgres', 'postmaster.pid')), 'no PostgreSQL stays behind')
  const kept = await rowsOf(database, 'select name from key_fingerprints order by name')
  t.same(kept, [{ name: 'checkpoint' }, { name: 'fairness' }, { name: 'pii' }])
})
