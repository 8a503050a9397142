import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { median } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { progress, roundRobin } from '../bench.ts'
import { type Job, Measured } from '../load/job.ts'
import type { BenchCluster, DatabaseUrls } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { Servers } from '../run/servers.ts'

const ROUNDS = 5
/** What is asked of the service while one verification goes on, one after the other: it begins with the first. */
const WINDOWS = 4
const SECONDS = 5

export interface AuditInterference {
  /** Requests a second: half of what the service can do. */
  readonly perSecond: number
  /** Milliseconds, in the middle of all windows of rounds that take turns; of those too in which it began. */
  readonly p99: { readonly alone: number; readonly verified: number; readonly begun: number }
}

/** The service at half its capacity, with a verification beside it and without; `verifying` starts one. */
export async function measureAuditInterference(
  cluster: BenchCluster,
  database: DatabaseUrls,
  cleanUp: AsyncDisposableStack,
  verifying: () => ChildProcess,
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
  const windows = { alone: [] as number[], verified: [] as number[] }
  const begun: number[] = []
  await roundRobin(ROUNDS, ['alone', 'verified'] as const, async (name) => {
    const child = name === 'verified' ? verifying() : undefined
    const ended = child && once(child, 'exit')
    try {
      for (let window = 0; window < WINDOWS; window += 1) {
        const { p99 } = await ask({ kind: 'open', port, mix: 'uniform', perSecond, seconds: SECONDS })
        if (child && (child.exitCode ?? child.signalCode) !== null) throw new Error('it was verified too soon')
        progress(`${perSecond}/s, ${name}: p99 ${p99.toFixed(2)} ms`)
        windows[name].push(p99)
        if (child && window === 0) begun.push(p99)
      }
    } finally {
      child?.kill('SIGTERM')
      await ended
    }
  })
  return { perSecond, p99: { alone: median(windows.alone), verified: median(windows.verified), begun: median(begun) } }
}
