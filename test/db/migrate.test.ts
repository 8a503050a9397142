import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Test, test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { MigrationError, migrate, pendingMigrations } from '../../src/db/migrate.ts'
import { openPool } from '../../src/db/pool.ts'
import { grantService } from '../../src/db/roles.ts'
import { canChangeLedger, settingFaults } from '../../src/db/safety.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { emptyDatabase, superuserUrl, testDatabase } from '../harness/postgres/test-database.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { until } from '../harness/until.ts'

test('migrations are applied in order, all or none, once', async (t) => {
  const { ownerUrl, serviceUrl } = await emptyDatabase()
  const { folder, add } = newFolder(t)
  add('0001-first.sql', 'create table first (number int); insert into first values (1); select pg_sleep(0.1)')
  add('0002-second.sql', `update first set number = number + 1 -- a comment; and 'another'`)
  add('notes.txt', 'no sql')

  t.same(await pendingMigrations(serviceUrl, folder), ['0001-first', '0002-second'])
  t.same(await queryOnce(ownerUrl, `select to_regclass('kysely_migration') as made`), [{ made: null }], 'it only read')
  const refusal = /lacks 0001-first, 0002-second, and role economy_service may not migrate.*DATABASE_OWNER_URL/
  await t.rejects(migrate(serviceUrl, folder), { name: 'MigrationError', message: refusal })

  const both = await Promise.all([migrate(ownerUrl, folder), migrate(ownerUrl, folder)])
  t.same(both.flat(), ['0001-first', '0002-second'], 'of two concurrent runs one applies them')
  t.same(await queryOnce(ownerUrl, 'select number from first'), [{ number: 2 }])
  await grantService(ownerUrl, 'economy_service')
  t.same(await pendingMigrations(serviceUrl, folder), [])
  t.same(await migrate(serviceUrl, folder), [], 'with nothing pending any role suffices')

  add('0003-third.sql', 'create table third ()')
  add('0004-fourth.sql', 'create table fourth (); select wrong')
  t.same(await pendingMigrations(serviceUrl, folder), ['0003-third', '0004-fourth'])
  await t.rejects(migrate(ownerUrl, folder), { message: /Migrating failed \(0004-fourth\): .*"wrong"/ })
  t.same(await pendingMigrations(serviceUrl, folder), ['0003-third', '0004-fourth'], 'all or none')
  await t.rejects(migrate(ownerUrl, folder), MigrationError)
  add('0004-fourth.sql', 'create table fourth ()')
  t.same(await migrate(ownerUrl, folder), ['0003-third', '0004-fourth'])

  add('0006-sixth.sql', 'create table sixth ()')
  t.same(await migrate(ownerUrl, folder), ['0006-sixth'])
  add('0005-fifth.sql', 'create table fifth ()')
  add('0007-seventh.sql', 'create table seventh ()')
  t.same(await migrate(ownerUrl, folder), ['0005-fifth', '0007-seventh'], 'also a late one with a lower number')
  t.same(await pendingMigrations(serviceUrl, folder), [])
})

test('a changed text of an applied migration is refused', async (t) => {
  const { ownerUrl, serviceUrl } = await emptyDatabase()
  const { folder, add } = newFolder(t)
  add('0001-first.sql', 'create table first ()')
  add('0002-second.sql', 'create table second ()')
  t.same(await migrate(ownerUrl, folder), ['0001-first', '0002-second'])
  await grantService(ownerUrl, 'economy_service')
  const sums = [
    { name: '0001-first', sha256: createHash('sha256').update('create table first ()').digest('hex') },
    { name: '0002-second', sha256: createHash('sha256').update('create table second ()').digest('hex') },
  ]
  const kept = () => queryOnce(ownerUrl, 'select * from migration_checksums order by name')
  t.same(await kept(), sums)

  add('0002-second.sql', 'create table second () -- really')
  add('0003-third.sql', 'create table third ()')
  const refusal = {
    name: 'MigrationError',
    message: /^sql\/0002-second\.sql is not what was applied to this database\./,
  }
  for (const url of [ownerUrl, serviceUrl]) await t.rejects(migrate(url, folder), refusal)
  t.same(
    await queryOnce(ownerUrl, `select to_regclass('third') as made`),
    [{ made: null }],
    'and nothing is applied on top',
  )
  add('0001-first.sql', '')
  await t.rejects(migrate(ownerUrl, folder), { message: /^sql\/0001-first\.sql and sql\/0002-second\.sql are not / })
  add('0001-first.sql', 'create table first ()')
  add('0002-second.sql', 'create table second ()')
  t.same(await migrate(ownerUrl, folder), ['0003-third'])
  t.equal((await kept()).length, 3)
})

test('the service role may write its tables and not change the ledger', async (t) => {
  const { ownerUrl, serviceUrl } = await testDatabase()
  const denied = { code: '42501', message: /^(permission denied|must be owner)/ }
  const event = `insert into ledger_events
    (position, type, version, data, movements, actor, at, request_id, hash)
    values (1, 'noted', 1, '[]', '', 'system', now(), 'r', 'h')`
  await queryOnce(serviceUrl, event)
  await queryOnce(serviceUrl, 'update ledger_head set position = 1')
  await queryOnce(
    serviceUrl,
    `insert into balances values ('user:1:coins', 5) on conflict (account) do update set balance = 5`,
  )
  await queryOnce(serviceUrl, `delete from balances`)
  t.same(await queryOnce(serviceUrl, 'select position from ledger_events'), [{ position: '1' }])
  t.same(await queryOnce(serviceUrl, 'select * from ledger_movements'), [])

  const refused = [
    `update ledger_events set type = 'x'`,
    'update ledger_events set type = type where false',
    'delete from ledger_events',
    'truncate ledger_events',
    'truncate balances',
    'alter table ledger_events disable trigger all',
    'drop trigger append_only on ledger_events',
    `create trigger mine before insert on ledger_events execute function refuse_to_rewrite_history()`,
    'drop table ledger_events',
    'set session_replication_role = replica',
    'delete from ledger_head',
    'create table mine ()',
    'create table mine (position bigint references ledger_events)',
    'set role economy_owner',
    `insert into kysely_migration values ('x', 'y')`,
    `update migration_checksums set sha256 = ''`,
    'delete from migration_checksums',
    'select * from kysely_migration_lock',
  ]
  for (const statement of refused) await t.rejects(queryOnce(serviceUrl, statement), denied, statement)

  await t.test('granting again revokes additional privileges', async (t) => {
    await queryOnce(ownerUrl, 'create view everything as select * from ledger_events')
    await queryOnce(
      ownerUrl,
      `grant all on ledger_events, everything to economy_service;
       grant update (type) on ledger_events to public;
       grant create on schema ${testSchema} to economy_service`,
    )
    await Promise.all([grantService(ownerUrl, 'economy_service'), grantService(ownerUrl, 'economy_service')])
    for (const statement of [...refused, `update everything set type = 'x'`]) {
      await t.rejects(queryOnce(serviceUrl, statement), denied, statement)
    }
    t.same(await queryOnce(serviceUrl, 'select position from everything'), [{ position: '1' }])
    await t.rejects(grantService(ownerUrl, 'economy_owner'), /cannot be restricted/)
  })
})

test('a role that may change the ledger is detected', async (t) => {
  const { ownerUrl, serviceUrl } = await testDatabase()
  const service = await openClient(t, serviceUrl)
  const owner = await connect(ownerUrl, 'test')
  t.teardown(() => owner.end())
  t.equal(await canChangeLedger(service), false)
  await owner.query('revoke all on ledger_events from current_user')
  t.equal(await canChangeLedger(owner), true, 'an owner can give itself every right')
  for (const right of ['update', 'delete', 'truncate', 'trigger', 'update (type)']) {
    await owner.query(`grant ${right} on ledger_events to economy_service`)
    t.equal(await canChangeLedger(service), true, right)
    await grantService(ownerUrl, 'economy_service')
    t.equal(await canChangeLedger(service), false)
  }
  const empty = await openClient(t, (await emptyDatabase()).ownerUrl)
  await t.rejects(canChangeLedger(empty), /was not migrated/)
})

test('settings with which no ledger is safe are reported', async (t) => {
  const database = await testDatabase()
  const client = await openClient(t, database.serviceUrl)
  t.same(await settingFaults(client), [], 'none in a test cluster')
  await client.query('set synchronous_commit = local')
  t.same(await settingFaults(client), [])
  await client.query('set synchronous_commit = off')
  t.same(await settingFaults(client), [
    'The database has synchronous_commit off: a crash can lose what was already confirmed.',
  ])
  const preset = ['session_replication_role = replica', 'ignore_checksum_failure = on', 'zero_damaged_pages = on']
  await queryOnce(
    await superuserUrl(database),
    preset.map((setting) => `alter role economy_service in database ${database.name} set ${setting}`).join('; '),
  )
  const later = await openClient(t, database.serviceUrl)
  t.same(await settingFaults(later), [
    'The database has ignore_checksum_failure on: damaged pages are read as if they were whole.',
    'The database has session_replication_role replica: no trigger protects the events of the ledger.',
    'The database has zero_damaged_pages on: damaged pages are emptied without an error.',
  ])
})

test('a pool returns safe integers and UTC times, and replaces broken connections', async (t) => {
  const { serviceUrl, ownerUrl, name } = await testDatabase()
  await queryOnce(ownerUrl, `alter database ${name} set timezone = 'Asia/Tokyo'`)
  const warnings: string[] = []
  const pool = openPool(
    serviceUrl,
    { max: 1, application_name: 'pool test' },
    { warn: (_, message) => warnings.push(message) },
  )
  const { rows } = await pool.query(`
    select 9007199254740991 as big, -9007199254740991 as small, null::int8 as none,
           array[1, 9007199254740991, null]::int8[] as bigs, '{}'::int8[] as no_bigs, 1.50 as exact,
           timestamptz '2026-01-02 03:04:05.678901+00' as at, timestamp '2026-01-02 03:04:05' as local,
           date '2026-01-02' as day, array[timestamptz '2026-01-02 03:04:05+00', null] as times, array['a,b'] as texts,
           current_setting('application_name') as name, current_setting('statement_timeout') as timeout`)
  t.strictSame(Object.assign({}, rows[0]), {
    big: Number.MAX_SAFE_INTEGER,
    small: Number.MIN_SAFE_INTEGER,
    none: null,
    bigs: [1, Number.MAX_SAFE_INTEGER, null],
    no_bigs: [],
    exact: '1.50',
    at: '2026-01-02 03:04:05.678901+00',
    local: '2026-01-02 03:04:05',
    day: '2026-01-02',
    times: ['2026-01-02 03:04:05+00', null],
    texts: ['a,b'],
    name: 'pool test',
    timeout: '10s',
  })
  for (const value of ['9007199254740992', '-9007199254740992', `'{9007199254740992}'::int8[]`]) {
    await t.rejects(pool.query(`select ${value} as big`), /beyond 2\^53-1/)
  }

  const { rows: backends } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  await queryOnce(serviceUrl, `select pg_terminate_backend(${backends[0]?.pid})`)
  await until(() => warnings.length > 0)
  t.same(warnings, ['idle database connection broke; the pool opens another one'])
  const client = await pool.connect()
  t.same((await client.query('select 1 as one')).rows, [{ one: 1 }], 'a broken connection is replaced')
  client.release()
  await pool.end()
  client.emit('error', new Error('terminating connection due to administrator command'))
  t.equal(warnings.length, 1, 'after the end nobody is warned')
})

function newFolder(t: Test): { folder: URL; add: (name: string, text: string) => void } {
  const path = mkdtempSync(join(tmpdir(), 'economy-sql-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return { folder: pathToFileURL(`${path}/`), add: (name, text) => writeFileSync(join(path, name), text) }
}
