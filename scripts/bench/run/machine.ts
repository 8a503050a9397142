import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import type { BenchCluster } from './cluster.ts'

/** Before the run, so that it shows the load of other programs. */
const loadAverage = (loadavg()[0] ?? 0).toFixed(1)

/** Date, commit, machine and versions of a run. */
export async function describeRun(cluster: BenchCluster): Promise<string[]> {
  const processors = cpus()
  const [version] = await cluster.ask(`select current_setting('server_version') as version`)
  const settings = await cluster.ask(
    `select name || ' ' || current_setting(name) as setting from pg_settings
     where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers') order by name`,
  )
  return [
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${commit()}`,
    `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, data on ${cluster.fileSystem}`,
    `load average before: ${loadAverage}`,
    `Node ${process.version}, PostgreSQL ${version?.['version']} (${settings.map(({ setting }) => setting).join(', ')})`,
  ]
}

function commit(): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain') === '' ? '' : ' with uncommitted changes'
    return `${git('rev-parse', '--short', 'HEAD')}${changed}`
  } catch {
    return 'unknown'
  }
}
