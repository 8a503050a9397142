import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { median } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { progress, roundRobin } from '../bench.ts'
import { type Job, Measured } from '../load/job.ts'
import type { BenchCluster, DatabaseUrls } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { Servers } from '../run/servers.ts'

/** Measurements during one verification, which starts with the first of them. */
const WINDOWS = 4
const SECONDS = 5

export interface AuditInterference {
  /** Requests a second: half of the service's capacity. */
  readonly perSecond: number
  /** p99 in milliseconds, the median of all windows without a verification. */
  readonly alone: number
  /** p99 during each contender's verification, and in the windows in which it started. */
  readonly verified: ReadonlyMap<string, { readonly p99: number; readonly starting: number }>
}

const ALONE = 'alone'

/** Latency of the service at half its capacity, without a verification and with each of `verifications`, in turns. */
export async function measureAuditInterference(
  cluster: BenchCluster,
  database: DatabaseUrls,
  cleanUp: AsyncDisposableStack,
  rounds: number,
  verifications: Readonly<Record<string, () => ChildProcess>>,
): Promise<AuditInterference> {
  const { port } = await new Servers(cluster.folder, cleanUp).ours(database)
  const generator = new HelperProcess(new URL('../load/generator.ts', import.meta.url), {
    JWT_SECRET: keys.JWT_SECRET,
    KEYED: '0',
  })
  cleanUp.defer(() => generator.stop())
  const generate = (job: Job): Promise<Measured> => generator.call(job, Measured)
  await generate({ kind: 'warm', port, mix: 'uniform' })
  const full = await generate({ kind: 'closed', port, mix: 'uniform', connections: 64, seconds: SECONDS })
  const perSecond = Math.round(full.perSecond / 2)
  const names = [ALONE, ...Object.keys(verifications)]
  const windows = new Map(names.map((name) => [name, { all: [] as number[], starting: [] as number[] }]))
  await roundRobin(rounds, [...windows], async ([name, { all, starting }]) => {
    const child = verifications[name]?.()
    const ended = child && once(child, 'exit')
    try {
      for (let window = 0; window < WINDOWS; window += 1) {
        const { p99 } = await generate({ kind: 'open', port, mix: 'uniform', perSecond, seconds: SECONDS })
        if (child && (child.exitCode ?? child.signalCode) !== null)
          throw new Error('the verification ended before the measurement')
        progress(`${perSecond}/s, ${name}: p99 ${p99.toFixed(2)} ms`)
        all.push(p99)
        if (window === 0) starting.push(p99)
      }
    } finally {
      child?.kill('SIGTERM')
      await ended
    }
  })
  const p99s = [...windows].map(
    ([name, { all, starting }]) => [name, { p99: median(all), starting: median(starting) }] as const,
  )
  const alone = median(windows.get(ALONE)?.all ?? [])
  return { perSecond, alone, verified: new Map(p99s.filter(([name]) => name !== ALONE)) }
}
