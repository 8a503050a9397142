import { median } from '../../test/harness/load/percentiles.ts'
import type { HelperProcess } from '../../test/harness/process/child-process-rpc.ts'
import { Ran } from './in-process/job.ts'
import { type Job, Measured } from './load/job.ts'
import { cpuOf, cpuOfCluster } from './profile/cpu.ts'

/** CPU time of one request or command, in microseconds. */
export interface Cost {
  readonly node: number
  readonly postgres: number
  /** Of the load generator; 0 without one. */
  readonly generator: number
}

/** The result of one turn of an implementation. */
export interface Turn {
  readonly perSecond: number
  /** Milliseconds; NaN when commands were not timed one by one. */
  readonly p50: number
  readonly p99: number
  readonly cost: Cost
}

export type Field = 'perSecond' | 'p50' | 'p99' | keyof Cost

const read = (turn: Turn, field: Field): number =>
  field === 'node' || field === 'postgres' || field === 'generator' ? turn.cost[field] : turn[field]

/** The median of an implementation's turns. */
export const medianOf = (turns: readonly Turn[], field: Field): number => median(turns.map((turn) => read(turn, field)))

/** The median of the ratios of adjacent turns, in which a temporary slowdown of the machine cancels out. */
export function ratio(turns: readonly Turn[], others: readonly Turn[], field: Field): number {
  return median(turns.map((turn, i) => read(turn, field) / read(others[i] ?? turn, field)))
}

/** Runs a job of the load generator against a server and measures its cost. */
export async function turnOf(
  server: { pid: number },
  generator: HelperProcess,
  postmaster: number,
  job: Job,
): Promise<Turn> {
  const { measured, cost } = await withCost(server.pid, postmaster, generator.pid, async () => {
    const measured = await generator.call(job, Measured)
    return { measured, count: measured.answered }
  })
  return { perSecond: measured.perSecond, p50: measured.p50, p99: measured.p99, cost }
}

/** Has a helper process run commands, and measures their cost. */
export async function helperTurn(helper: HelperProcess, postmaster: number, seconds: number): Promise<Turn> {
  const { measured, cost } = await withCost(helper.pid, postmaster, null, async () => {
    const measured = await helper.call({ seconds }, Ran)
    return { measured, count: measured.commands }
  })
  return { perSecond: measured.commands / measured.seconds, p50: Number.NaN, p99: Number.NaN, cost }
}

async function withCost<M>(
  pid: number,
  postmaster: number,
  generator: number | null,
  work: () => Promise<{ measured: M; count: number }>,
): Promise<{ measured: M; cost: Cost }> {
  const readCpu = () => ({
    node: cpuOf(pid),
    postgres: cpuOfCluster(postmaster),
    generator: generator === null ? 0 : cpuOf(generator),
  })
  const before = readCpu()
  const { measured, count } = await work()
  const after = readCpu()
  const perCommand = (field: keyof Cost): number => (after[field] - before[field]) / count
  return {
    measured,
    cost: { node: perCommand('node'), postgres: perCommand('postgres'), generator: perCommand('generator') },
  }
}
