import { escapeIdentifier, Pool } from 'pg'
import tap from 'tap'
import { ledgerUrl } from '../../../src/db/ledger-url.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { grantService } from '../../../src/db/roles.ts'
import { findTestCluster, isInMemory, removeTestCluster, startTestCluster, type TestCluster } from './test-cluster.ts'
import { inTestSchema, testSchema } from './test-schema.ts'

/** A ledger for one test, in a database of its own in a real PostgreSQL, with the roles of production. */
export interface TestDatabase {
  /** The name of the database. */
  readonly name: string
  readonly ownerUrl: string
  readonly serviceUrl: string
}

const TEMPLATE = 'economy_template'
/** The key of an advisory lock that nothing else uses in the database `postgres`. */
const TEMPLATE_LOCK = 5_202_611_210_004
/** Files in memory are copied in half the time that writing the copy to the WAL takes; on a disk they would be synced. */
const strategy = isInMemory ? 'file_copy' : 'wal_log'

interface Source {
  readonly cluster: TestCluster
  /** One connection for all databases that this process makes; it does not keep the process running. */
  readonly admin: Pool
}

let source: Promise<Source> | undefined
let template: Promise<void> | undefined
let databaseCount = 0

/** A migrated database with grants. It goes with its cluster: dropping it would force a checkpoint. */
export async function testDatabase(): Promise<TestDatabase> {
  await (template ??= connectSource().then(ensureTemplate))
  return createDatabase(TEMPLATE)
}

/** A copy of a database that has no connections left. */
export const copyOf = ({ name }: TestDatabase): Promise<TestDatabase> => createDatabase(escapeIdentifier(name))

/** A database without tables, for a ledger in this schema. */
export const emptyDatabase = (schema = testSchema): Promise<TestDatabase> => createDatabase('template0', schema)

/** The connection string of a test's database for the superuser. */
export const superuserUrl = async ({ name }: TestDatabase): Promise<string> =>
  inTestSchema((await connectSource()).cluster.url('postgres', name))

async function createDatabase(from: string, schema = testSchema): Promise<TestDatabase> {
  const { cluster, admin } = await connectSource()
  databaseCount += 1
  const name = `test_${process.pid}_${databaseCount}`
  await admin.query(
    `create database ${escapeIdentifier(name)} template ${from} strategy ${strategy} owner economy_owner`,
  )
  return {
    name,
    ownerUrl: ledgerUrl(cluster.url('economy_owner', name), schema),
    serviceUrl: ledgerUrl(cluster.url('economy_service', name), schema),
  }
}

/** To the cluster of this run; a test file that Node runs by itself starts its own. */
function connectSource(): Promise<Source> {
  return (source ??= openSource())
}

async function openSource(): Promise<Source> {
  const owner = process.env['TEST_CLUSTER']
  if (owner === undefined) tap.teardown(() => removeTestCluster(process.pid))
  const cluster = await (owner === undefined ? startTestCluster(process.pid) : findTestCluster(Number(owner)))
  const url = cluster.url('postgres', 'postgres')
  const admin = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // The cluster may end before this process does.
  admin.on('error', () => {})
  return { cluster, admin }
}

/** `datistemplate` is set last, so that an unfinished template is recognised and created again. */
async function ensureTemplate({ cluster, admin }: Source): Promise<void> {
  const client = await admin.connect()
  await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
  const finished = await client.query('select from pg_database where datname = $1 and datistemplate', [TEMPLATE])
  if (finished.rowCount === 0) {
    await client.query(`drop database if exists ${TEMPLATE}`)
    await client.query(`create database ${TEMPLATE} template template0 owner economy_owner`)
    const url = inTestSchema(cluster.url('economy_owner', TEMPLATE))
    await migrate(url)
    await grantService(url, 'economy_service')
    await client.query(`alter database ${TEMPLATE} is_template true`)
  }
  await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  client.release()
}
