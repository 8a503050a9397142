import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Test, test } from 'tap'
import { migrate } from '../../src/db/migrate.ts'
import { PipelinedConnection } from '../../src/ledger/executor/pipelined-connection.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { base } from '../harness/postgres/test-cluster.ts'
import { emptyDatabase, superuserUrl, type TestDatabase } from '../harness/postgres/test-database.ts'

/**
 * A database that says of itself that it is a node of Citus, by an empty extension of that name; null where PostgreSQL
 * is older than 18 and reads extensions from its own folder only.
 */
async function fakeCitus(t: Test): Promise<TestDatabase | null> {
  const database = await emptyDatabase()
  const [version] = await queryOnce(database.ownerUrl, `select current_setting('server_version_num')::int as number`)
  if (Number(version?.['number']) < 180_000) return null
  const folder = mkdtempSync(join(base, 'economy-citus-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'extension'))
  writeFileSync(join(folder, 'extension/citus.control'), `default_version = '1'\n`)
  writeFileSync(join(folder, 'extension/citus--1.sql'), '')
  // PostgreSQL may run as another user.
  for (const path of ['', 'extension']) chmodSync(join(folder, path), 0o755)
  await queryOnce(
    await superuserUrl(database),
    `set extension_control_path = '${folder}'; create extension citus schema pg_catalog`,
  )
  return database
}

const TOO_OLD = 'PostgreSQL is older than 18'

test('the writer plans its statements with their parameters on Citus, and once for all elsewhere', async (t) => {
  const citus = await fakeCitus(t)
  const modeOf = async ({ serviceUrl }: TestDatabase): Promise<unknown> => {
    const connection = await PipelinedConnection.connect(serviceUrl, 'writer under test')
    const [result] = await connection.query([{ name: '', text: 'show plan_cache_mode', values: [] }])
    await connection.close()
    return result?.rows[0]?.['plan_cache_mode']
  }
  t.equal(await modeOf(await emptyDatabase()), 'force_generic_plan')
  if (citus === null) return void t.pass('on Citus', { skip: TOO_OLD })
  t.equal(await modeOf(citus), 'force_custom_plan')
})

test('migrations may create triggers on Citus', async (t) => {
  const citus = await fakeCitus(t)
  const path = mkdtempSync(join(tmpdir(), 'economy-sql-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  const setting = `current_setting('citus.enable_unsafe_triggers', true)`
  writeFileSync(join(path, '0001-first.sql'), `create table seen as select coalesce(${setting}, 'unknown') as setting`)
  const settingIn = async ({ ownerUrl }: TestDatabase): Promise<unknown> => {
    await migrate(ownerUrl, pathToFileURL(`${path}/`))
    return (await queryOnce(ownerUrl, 'select setting from seen'))[0]?.['setting']
  }
  t.equal(await settingIn(await emptyDatabase()), 'unknown')
  if (citus === null) return void t.pass('on Citus', { skip: TOO_OLD })
  t.equal(await settingIn(citus), 'on')
})
