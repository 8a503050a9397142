import { type Client, escapeIdentifier } from 'pg'
import tap from 'tap'
import { connect } from '../../../src/db/connect.ts'
import { ledgerUrl } from '../../../src/db/ledger-url.ts'
import { grantService } from '../../../src/db/migrations/grants.ts'
import { migrate } from '../../../src/db/migrations/migrate.ts'
import { findTestCluster, removeTestCluster, startTestCluster, type TestCluster } from './test-cluster.ts'
import { inTestSchema, testSchema } from './test-schema.ts'

/** A ledger for one test, in a database of its own in a real PostgreSQL, with the roles of production. */
export interface TestDatabase {
  /** Of the database. */
  readonly name: string
  readonly ownerUrl: string
  readonly serviceUrl: string
}

const template = 'economy_template'
/** The key of an advisory lock that nothing else uses in the database `postgres`. */
const templateLock = 5_202_611_210_004

/** A migrated database with grants. It goes with its cluster: dropping it would force a checkpoint. */
export async function testDatabase(): Promise<TestDatabase> {
  return createDatabase(async (cluster, admin) => {
    await ensureTemplate(cluster, admin)
    return template
  })
}

/** A copy of a database that has no connections left. */
export const copyOf = async ({ name }: TestDatabase): Promise<TestDatabase> =>
  createDatabase(async () => escapeIdentifier(name))

/** A database without tables, for a ledger in this schema. */
export async function emptyDatabase(schema = testSchema): Promise<TestDatabase> {
  return createDatabase(async () => 'template0', schema)
}

/** The connection string of a test's database for the superuser. */
export const superuserUrl = async ({ name }: TestDatabase): Promise<string> =>
  inTestSchema((await currentCluster()).url('postgres', name))

let databaseCount = 0

async function createDatabase(
  source: (cluster: TestCluster, admin: Client) => Promise<string>,
  schema = testSchema,
): Promise<TestDatabase> {
  const cluster = await currentCluster()
  databaseCount += 1
  const name = `test_${process.pid}_${databaseCount}`
  await asAdmin(cluster, async (admin) => {
    await admin.query(
      `create database ${escapeIdentifier(name)} template ${await source(cluster, admin)} owner economy_owner`,
    )
  })
  return {
    name,
    ownerUrl: ledgerUrl(cluster.url('economy_owner', name), schema),
    serviceUrl: ledgerUrl(cluster.url('economy_service', name), schema),
  }
}

let current: Promise<TestCluster> | null = null

/** The cluster of this run; a test file that Node runs by itself starts its own. */
function currentCluster(): Promise<TestCluster> {
  const owner = process.env['TEST_CLUSTER']
  current ??= owner === undefined ? startOwn() : findTestCluster(Number(owner))
  return current
}

async function startOwn(): Promise<TestCluster> {
  const cluster = await startTestCluster(process.pid)
  tap.teardown(() => removeTestCluster(process.pid))
  return cluster
}

/** `datistemplate` is set last, so that an unfinished template is recognised and created again. */
async function ensureTemplate(cluster: TestCluster, admin: Client): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [templateLock])
  const finished = await admin.query('select from pg_database where datname = $1 and datistemplate', [template])
  if (finished.rowCount === 0) {
    await admin.query(`drop database if exists ${template}`)
    await admin.query(`create database ${template} template template0 owner economy_owner`)
    const url = inTestSchema(cluster.url('economy_owner', template))
    await migrate(url)
    await grantService(url, 'economy_service')
    await admin.query(`alter database ${template} is_template true`)
  }
  await admin.query('select pg_advisory_unlock($1)', [templateLock])
}

async function asAdmin(cluster: TestCluster, work: (admin: Client) => Promise<void>): Promise<void> {
  const admin = await connect(cluster.url('postgres', 'postgres'), 'economy tests')
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
