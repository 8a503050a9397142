import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { median } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { progress, roundRobin } from '../bench.ts'
import { type Job, Measured } from '../load/job.ts'
import type { BenchCluster, DatabaseUrls } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { Servers } from '../run/servers.ts'

/** What is asked of the service while one verification goes on, one after the other: it begins with the first. */
const WINDOWS = 4
const SECONDS = 5

export interface AuditInterference {
  /** Requests a second: half of what the service can do. */
  readonly perSecond: number
  /** p99 in milliseconds, the median of all windows without a verification. */
  readonly alone: number
  /** p99 during each contender's verification, and in the windows in which it began. */
  readonly verified: ReadonlyMap<string, { readonly p99: number; readonly begun: number }>
}

const ALONE = 'alone'

/** The service at half its capacity, in turns without a verification and with each that `verifying` starts. */
export async function measureAuditInterference(
  cluster: BenchCluster,
  database: DatabaseUrls,
  cleanUp: AsyncDisposableStack,
  rounds: number,
  verifying: Readonly<Record<string, () => ChildProcess>>,
): Promise<AuditInterference> {
  const { port } = await new Servers(cluster.folder, cleanUp).ours(database)
  const generator = new HelperProcess(new URL('../load/generator.ts', import.meta.url), {
    JWT_SECRET: keys.JWT_SECRET,
    KEYED: '0',
  })
  cleanUp.defer(() => generator.stop())
  const ask = (job: Job): Promise<Measured> => generator.call(job, Measured)
  await ask({ kind: 'warm', port, mix: 'uniform' })
  const full = await ask({ kind: 'closed', port, mix: 'uniform', connections: 64, seconds: SECONDS })
  const perSecond = Math.round(full.perSecond / 2)
  const names = [ALONE, ...Object.keys(verifying)]
  const windows = new Map(names.map((name) => [name, { all: [] as number[], begun: [] as number[] }]))
  await roundRobin(rounds, [...windows], async ([name, { all, begun }]) => {
    const child = verifying[name]?.()
    const ended = child && once(child, 'exit')
    try {
      for (let window = 0; window < WINDOWS; window += 1) {
        const { p99 } = await ask({ kind: 'open', port, mix: 'uniform', perSecond, seconds: SECONDS })
        if (child && (child.exitCode ?? child.signalCode) !== null) throw new Error('it was verified too soon')
        progress(`${perSecond}/s, ${name}: p99 ${p99.toFixed(2)} ms`)
        all.push(p99)
        if (window === 0) begun.push(p99)
      }
    } finally {
      child?.kill('SIGTERM')
      await ended
    }
  })
  const p99s = [...windows].map(([name, { all, begun }]) => [name, { p99: median(all), begun: median(begun) }] as const)
  const alone = median(windows.get(ALONE)?.all ?? [])
  return { perSecond, alone, verified: new Map(p99s.filter(([name]) => name !== ALONE)) }
}
