import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-lock.ts'
import { isAlive } from '../../../src/db/cluster/postmaster.ts'

/** Where tests keep what they write. */
export const base = memoryDisk() ?? tmpdir()
/** The clusters of this checkout's test runs: one a run, named after the process that holds it. */
const prefix = `economy-test-${createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8)}-`

/** A running cluster for tests, with the durable settings of the real one. */
export interface TestCluster {
  /** Address of a database for the given role. */
  url(role: 'postgres' | 'economy_owner' | 'economy_service', database: string): string
}

/** Starts the cluster that process `holder` (its process id) answers for. */
export async function startTestCluster(holder: number): Promise<TestCluster> {
  await removeAbandoned()
  const cluster = await prepareCluster(dirOf(holder))
  const { port, client } = await startAndConnect(cluster)
  await client.end()
  return at(cluster, port)
}

/** The running cluster of `holder`, or null. */
export async function findTestCluster(holder: number): Promise<TestCluster | null> {
  if (!existsSync(dirOf(holder))) return null
  const cluster = await prepareCluster(dirOf(holder))
  const running = cluster.running()
  return running === null ? null : at(cluster, running.port)
}

export async function removeTestCluster(holder: number): Promise<void> {
  const dir = dirOf(holder)
  const cluster = await prepareCluster(dir)
  await cluster.stop()
  rmSync(dir, { recursive: true, force: true })
}

function at(cluster: Cluster, port: number): TestCluster {
  return { url: (role, database) => cluster.url(role, port, database) }
}

/** What killed runs left behind. */
async function removeAbandoned(): Promise<void> {
  const holders = readdirSync(base)
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
  for (const holder of holders.filter((holder) => !isAlive(holder))) await removeTestCluster(holder)
}

function dirOf(holder: number): string {
  return join(base, `${prefix}${holder}`)
}

/** A tmpfs, where fsync costs nothing; containers often have too small a one. */
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
