import { test } from 'tap'
import { grantService } from '../../src/db/grants.ts'
import { migrate } from '../../src/db/migrate.ts'
import { newDataDir, open } from '../support/embedded.ts'
import { testDatabase } from '../support/postgres.ts'
import { audit, script } from './command-line.ts'
import { seed } from './seed.ts'
import { tamper } from './verified.ts'

test('verify: 0 clean, 1 findings, in lines and as one document', async (t) => {
  const database = await testDatabase(t)
  await seed(t, database)
  const env = { DATABASE_URL: database.serviceUrl }
  t.match(await audit(env, 'verify'), { code: 0, out: /^clean: 22 events up to position 22 in [\d.]+ s\n$/, err: '' })
  const clean = await audit(env, 'verify', '--json', '--as-of', '9')
  t.same([clean.code, JSON.parse(clean.out), clean.err], [0, { position: 9, events: 9, findings: [] }, ''])

  await tamper(
    database,
    'update ledger_events set amount[1] = 41 where position = 11',
    `update rooms set trophy_points = 0`,
  )
  const found = await audit(env, 'verify')
  t.match(found, { code: 1, err: '' })
  t.match(found.out.split('\n'), [
    /^position 11: hash: [0-9a-f]{64} does not follow from the event and the hash before it \([0-9a-f]{64}\)$/,
    'projection: balances issuance:operator:diamonds: balance is -19960 and ought to be -19959',
    'projection: balances user:2:diamonds: balance is 9960 and ought to be 9959',
    'projection: rooms 9: trophy_points is 0 and ought to be 176',
    /^findings: 4, 22 events up to position 22 in [\d.]+ s$/,
    '',
  ])
  const document = await audit(env, 'verify', '--json')
  t.equal(document.code, 1)
  t.match(JSON.parse(document.out), {
    position: 22,
    events: 22,
    findings: [{ check: 'hash', position: 11 }, {}, {}, {}],
  })
  t.equal((await audit(env, 'verify', '--as-of', '10')).code, 0)
})

test('2 could not run, in one line', async (t) => {
  const { serviceUrl } = await testDatabase(t)
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
      { DATA_DIR: script },
      ['verify'],
      /^audit could not run: DATA_DIR .* cannot be used: it, or something above it, .*\n$/,
    ],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--as-of', '0'], /^error: option '--as-of <position>' .*\n$/],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--as-of', '1e3'], /^error: option '--as-of <position>' .*\n$/],
    [{ DATABASE_URL: serviceUrl }, ['verify', '--nonsense'], /^error: unknown option '--nonsense'\n$/],
    [{ DATABASE_URL: serviceUrl }, ['nonsense'], /^error: unknown command 'nonsense'\n$/],
    [{ DATABASE_URL: serviceUrl }, [], /^Usage: audit /],
  ]
  for (const [env, args, err] of cases) t.match(await audit(env, ...args), { code: 2, out: '', err }, args.join(' '))
  t.match(await audit({}, '--help'), { code: 0, out: /verify/, err: '' })
})

test('it finds the embedded database, whether the service runs or not', async (t) => {
  const dataDir = newDataDir(t)
  const embedded = await open(t, dataDir)
  await migrate(embedded.ownerUrl)
  await grantService(embedded.ownerUrl, 'economy_service')
  await seed(t, embedded)
  const clean = { code: 0, out: /^clean: 22 events /, err: '' }
  t.match(await audit({ DATA_DIR: dataDir }, 'verify'), clean)
  await embedded.stop()
  t.match(await audit({ DATA_DIR: dataDir }, 'verify'), clean)
})
