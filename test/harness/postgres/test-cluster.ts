import { createHash } from 'node:crypto'
import { accessSync, appendFileSync, constants, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-session.ts'
import { isAlive } from '../../../src/db/cluster/postmaster.ts'
import { cpuMsOf } from '../process/cpu-time.ts'
import { testBinaries } from './test-binaries.ts'

/** A database takes 10 MB, the WAL up to 600 MB, and a whole run makes about 650 databases. */
const MEMORY_DISK_BYTES = 8 * 2 ** 30

const memory = memoryDisk()
/** Whether the files of tests are in memory. */
export const isInMemory = memory !== null
/** The folder for files of tests. */
export const base = memory ?? tmpdir()
/** Each test run of this checkout has one cluster, named after the process that owns it. */
const prefix = `economy-test-${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}-`

/** No table grows old here: autovacuum would visit each of the many databases again and again. */
const SETTINGS = 'autovacuum = off\n'
/** More than a thousand connections are faster without passwords. */
const ACCESS = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n'

/**
 * A running cluster for tests, with the settings of the real one: a service refuses to start on one without durability,
 * which costs nothing in memory.
 */
export interface TestCluster {
  /** The connection string of a database for a role. */
  url(role: 'postgres' | 'economy_owner' | 'economy_service', database: string): string
  /** CPU time of its processes that have ended. */
  cpuMs(): number
}

/** Starts the cluster of a process id. */
export async function startTestCluster(owner: number): Promise<TestCluster> {
  await removeAbandoned()
  const cluster = await prepareCluster(dirOf(owner), await testBinaries())
  appendFileSync(join(cluster.dataDir, 'postgres/postgresql.conf'), SETTINGS)
  writeFileSync(join(cluster.dataDir, 'postgres/pg_hba.conf'), ACCESS)
  const { port, client } = await startAndConnect(cluster, { log: { warn: () => {} } })
  await client.end()
  return at(cluster, port)
}

/** The running cluster of `owner`. */
export async function findTestCluster(owner: number): Promise<TestCluster> {
  const cluster = await prepareCluster(dirOf(owner), await testBinaries())
  const running = cluster.running()
  if (running === null) throw new Error(`The cluster of the tests in ${dirOf(owner)} does not run.`)
  return at(cluster, running.port)
}

export async function removeTestCluster(owner: number): Promise<void> {
  const dir = dirOf(owner)
  const cluster = await prepareCluster(dir, await testBinaries())
  await cluster.stop()
  rmSync(dir, { recursive: true, force: true })
}

function at(cluster: Cluster, port: number): TestCluster {
  return {
    url: (role, database) => cluster.url(role, port, database),
    cpuMs: () => {
      const pid = cluster.running()?.pid
      return pid === undefined ? 0 : cpuMsOf(pid)
    },
  }
}

/** Removes the clusters of killed runs. */
async function removeAbandoned(): Promise<void> {
  const owners = readdirSync(base)
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
  for (const owner of owners.filter((owner) => !isAlive(owner))) await removeTestCluster(owner)
}

function dirOf(owner: number): string {
  return join(base, `${prefix}${owner}`)
}

/** A tmpfs, if there is one with enough room for the databases of all tests; in containers it is often small or full. */
function memoryDisk(): string | null {
  const path = '/dev/shm'
  try {
    accessSync(path, constants.W_OK)
    const { bsize, bavail } = statfsSync(path)
    return bsize * bavail >= MEMORY_DISK_BYTES ? path : null
  } catch {
    return null
  }
}
