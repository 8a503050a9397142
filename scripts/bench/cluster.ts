import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareCluster } from '../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../src/db/cluster/cluster-session.ts'
import { queryRows } from '../../test/harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../test/harness/postgres/test-database.ts'

/** One PostgreSQL for the whole run, with the product's own durable settings. */
export interface BenchCluster {
  readonly postmaster: number
  /** For files of the run. */
  readonly folder: string
  /** Creates a database: a copy of another one, or empty. */
  create(name: string, template?: string): Promise<TestDatabase>
  /** Leaves PostgreSQL nothing to do for what was written, which it would otherwise do during a measurement. */
  settle(database: TestDatabase): Promise<void>
}

const TMPFS = 0x01021994
const RAMFS = 0x858458f6

/** Creates a folder on a disk, not in memory, so that fsync costs what it would cost a service. */
function makeFolder(): string {
  const base = [tmpdir(), '/var/tmp', process.cwd()].find((path) => ![TMPFS, RAMFS].includes(statfsSync(path).type))
  if (base === undefined) throw new Error('All folders for files are in memory; set TMPDIR to a folder on a disk.')
  return mkdtempSync(join(base, 'economy-bench-'))
}

/** Stopped and removed by `cleanUp`. */
export async function startCluster(cleanUp: AsyncDisposableStack): Promise<BenchCluster> {
  const folder = makeFolder()
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }))
  // PostgreSQL runs as another user when this is root, and its data directory is in this folder.
  chmodSync(folder, 0o755)
  const cluster = await prepareCluster(join(folder, 'data'))
  cleanUp.defer(() => cluster.stop())
  const { port, client } = await startAndConnect(cluster)
  await client.end()
  const asAdmin = (text: string) => queryRows({ ownerUrl: cluster.url('postgres', port, 'postgres') }, text)
  return {
    postmaster: cluster.running()?.pid ?? 0,
    folder,
    async create(name, template = 'template0') {
      await asAdmin(`create database ${name} template ${template} owner economy_owner`)
      return {
        name,
        ownerUrl: cluster.url('economy_owner', port, name),
        serviceUrl: cluster.url('economy_service', port, name),
      }
    },
    async settle(database) {
      await queryRows(database, 'vacuum (analyze)')
      await asAdmin('checkpoint')
    },
  }
}

/** Time, commit, machine and Node of a run. */
export function describeRun(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, load average before ${loadAverage}`
  return `${new Date().toISOString().slice(0, 16)}, commit ${commit}, Node ${process.version}, ${machine}`
}

/** Before the run, so that it shows the load of other programs. */
const loadAverage = (loadavg()[0] ?? 0).toFixed(1)
