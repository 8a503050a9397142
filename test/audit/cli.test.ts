import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { migrate } from '../../src/db/migrate.ts'
import { grantService } from '../../src/db/roles.ts'
import { isFullRun, onlyInFullRun } from '../harness/long-tests.ts'
import { newDataDir, openEmbeddedCluster } from '../harness/postgres/embedded.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { inTestSchema, testSchema } from '../harness/postgres/test-schema.ts'
import { auditScript, runAudit } from './run-audit.ts'
import { seededLedger, seedLedger } from './seed-ledger.ts'
import { tamper } from './verify-database.ts'

test('verify ends with 0 when clean and 1 with findings, as lines or as one document', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl }
  t.match(await runAudit(env, 'verify'), {
    code: 0,
    out: /^clean: 22 events up to position 22 in [\d.]+ s\n$/,
    err: '',
  })
  const clean = await runAudit(env, 'verify', '--json', '--as-of', '9')
  t.same([clean.code, JSON.parse(clean.out), clean.err], [0, { position: 9, events: 9, findings: [] }, ''])

  await tamper(
    database,
    'update shown_events set amount[1] = 41 where position = 11',
    `update rooms set trophy_points = 0`,
  )
  const found = await runAudit(env, 'verify')
  t.match(found, { code: 1, err: '' })
  t.match(found.out.split('\n'), [
    /^position 11: hash: [0-9a-f]{64} does not follow from the event and the hash before it \([0-9a-f]{64}\)$/,
    'projection: balances issuance:operator:diamonds: balance is -19960, expected -19959',
    'projection: balances user:2:diamonds: balance is 9960, expected 9959',
    'projection: rooms 9: trophy_points is 0, expected 176',
    /^findings: 4, 22 events up to position 22 in [\d.]+ s$/,
    '',
  ])
  const document = await runAudit(env, 'verify', '--json')
  t.equal(document.code, 1)
  t.match(JSON.parse(document.out), {
    position: 22,
    events: 22,
    findings: [{ check: 'hash', position: 11 }, {}, {}, {}],
  })
  t.equal((await runAudit(env, 'verify', '--as-of', '10')).code, 0)
})

test('an audit that could not run ends with 2 and one line', async (t) => {
  const { serviceUrl } = await testDatabase()
  const cases: [env: Record<string, string>, args: string[], err: RegExp][] = [
    [
      { DATABASE_URL: serviceUrl },
      ['verify', '--as-of', '7'],
      /^audit could not run: The ledger ends at position 0\.\n$/,
    ],
    [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, ['verify'], /^audit could not run: .*ECONNREFUSED.*\n$/],
    [{ DATABASE_URL: 'postgres://nobody@localhost:1/none' }, ['verify'], /^audit could not run: .*ECONNREFUSED.*\n$/],
    [{ DATA_DIR: '/tmp/there/is/none' }, ['verify'], /^audit could not run: There is no database in .*\n$/],
    [
      { DATA_DIR: auditScript },
      ['verify'],
      /^audit could not run: DATA_DIR .* cannot be used: it, or something above it, .*\n$/,
    ],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--as-of', '0'], /^error: option '--as-of <position>' .*\n$/],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--as-of', '1e3'], /^error: option '--as-of <position>' .*\n$/],
    [
      { DATABASE_URL: serviceUrl },
      ['verify', '--checkpoint', '/tmp/no-such.json'],
      /^audit could not run: --checkpoint: there is no file \/tmp\/no-such\.json\.\n$/,
    ],
    [
      { DATABASE_URL: serviceUrl, CHECKPOINT_KEY: 'k'.repeat(64) },
      ['verify', '--checkpoint', auditScript],
      /^audit could not run: --checkpoint .+audit\.ts: This is not a checkpoint: it is not JSON\.\n$/,
    ],
    [
      { DATABASE_URL: serviceUrl },
      ['explain', '--user', '7', '--currency', 'coins'],
      /^audit could not run: --user: There is no user 7\.\n$/,
    ],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--public-key', 'x'], /: --public-key needs --checkpoint\.\n$/],
    [
      { DATABASE_URL: serviceUrl },
      ['export', '--format', 'hledger', '--transactions', '5'],
      /: --transactions needs --folder\.\n$/,
    ],
    [{ DATABASE_URL: serviceUrl }, ['statement', '--account', 'user:0:coins'], /Expected <kind>:<id>:<currency>, /],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--nonsense'], /^error: unknown option '--nonsense'\n$/],
    [{ DATABASE_URL: serviceUrl }, ['nonsense'], /^error: unknown command 'nonsense'\n$/],
    [{ DATABASE_URL: serviceUrl }, [], /^Usage: audit /],
  ]
  for (const [env, args, err] of cases) t.match(await runAudit(env, ...args), { code: 2, out: '', err }, args.join(' '))
  t.match(await runAudit({}, '--help'), { code: 0, out: /verify/, err: '' })
})

test('a report that cannot be written is an error', async (t) => {
  const { serviceUrl } = await testDatabase()
  for (const command of isFullRun ? ['verify', 'trial-balance'] : ['verify']) {
    const { status, stderr } = spawnSync('sh', ['-c', `exec node "${auditScript}" ${command} > /dev/full`], {
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: serviceUrl, LEDGER_SCHEMA: testSchema },
      encoding: 'utf8',
    })
    t.match({ status, stderr }, { status: 2, stderr: /^audit could not run: .*ENOSPC.*\n$/ }, command)
  }
})

test('a checkpoint of a head that is not the last event is refused', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl, CHECKPOINT_KEY: 'k'.repeat(64) }
  t.match(await runAudit(env, 'checkpoint'), { code: 0, out: /"position": 22,/ })
  await tamper(database, 'update ledger_head set position = 23')
  const err =
    'audit could not run: The head of the ledger does not match its last event; nothing was signed. Run `audit verify`.\n'
  t.match(await runAudit(env, 'checkpoint'), { code: 2, out: '', err })
  await tamper(database, `update ledger_head set position = 22, hash = repeat('a', 64)`)
  t.match(await runAudit(env, 'checkpoint'), { code: 2, out: '', err })
})

test('an audit finds the embedded database, whether the service runs or not', {
  skip: onlyInFullRun,
}, async (t) => {
  const dataDir = newDataDir(t)
  const embedded = await openEmbeddedCluster(t, dataDir)
  const ownerUrl = inTestSchema(embedded.ownerUrl)
  await migrate(ownerUrl)
  await grantService(ownerUrl, 'economy_service')
  await seedLedger(t, { serviceUrl: inTestSchema(embedded.serviceUrl) })
  const clean = { code: 0, out: /^clean: 22 events /, err: '' }
  t.match(await runAudit({ DATA_DIR: dataDir }, 'verify'), clean)
  await embedded.stop()
  t.match(await runAudit({ DATA_DIR: dataDir }, 'verify'), clean)
})
