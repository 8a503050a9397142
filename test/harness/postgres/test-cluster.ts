import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-lock.ts'
import { isAlive } from '../../../src/db/cluster/postmaster.ts'
import { testBinaries } from './test-binaries.ts'

/** The folder for files of tests. */
export const base = memoryDisk() ?? tmpdir()
/** Each test run of this checkout has one cluster, named after the process that owns it. */
const prefix = `economy-test-${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}-`

/** A running cluster for tests, with the durable settings of the real one. */
export interface TestCluster {
  /** The connection string of a database for a role. */
  url(role: 'postgres' | 'economy_owner' | 'economy_service', database: string): string
}

/** Starts the cluster of a process id. */
export async function startTestCluster(owner: number): Promise<TestCluster> {
  await removeAbandoned()
  const cluster = await prepareCluster(dirOf(owner), await testBinaries())
  const { port, client } = await startAndConnect(cluster)
  await client.end()
  return at(cluster, port)
}

/** The running cluster of `owner`, or null. */
export async function findTestCluster(owner: number): Promise<TestCluster | null> {
  if (!existsSync(dirOf(owner))) return null
  const cluster = await prepareCluster(dirOf(owner), await testBinaries())
  const running = cluster.running()
  return running === null ? null : at(cluster, running.port)
}

export async function removeTestCluster(owner: number): Promise<void> {
  const dir = dirOf(owner)
  const cluster = await prepareCluster(dir, await testBinaries())
  await cluster.stop()
  rmSync(dir, { recursive: true, force: true })
}

function at(cluster: Cluster, port: number): TestCluster {
  return { url: (role, database) => cluster.url(role, port, database) }
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

/** A tmpfs, where fsync is free, if there is one and it is large enough; in containers it is often small. */
function memoryDisk(): string | null {
  const path = '/dev/shm'
  try {
    accessSync(path, constants.W_OK)
    const { bsize, blocks } = statfsSync(path)
    return bsize * blocks >= 2 ** 31 ? path : null
  } catch {
    return null
  }
}
