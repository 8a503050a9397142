import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { table, whole } from '../markdown.ts'
import { cpuOf, cpuOfCluster } from '../profile/cpu.ts'
import { sharesOf } from '../profile/cpu-profile.ts'
import { monotonicMicros } from '../profile/profile.ts'
import { type Stage, stages } from '../profile/stages.ts'
import { describeRun } from '../run/machine.ts'
import type { Server } from '../run/servers.ts'
import { untilMetric } from './measure.ts'

const CONNECTIONS = [64, 256] as const

/** CPU time of a gift, in microseconds. */
interface Costs {
  readonly instances: readonly ReadonlyMap<Stage, number>[]
  readonly postgres: number
}

/**
 * What each stage of a gift costs an instance alone, a writer to which another instance forwards all gifts, and that
 * other one: the CPU time of each process by the shares of its profile.
 */
export async function profileStages(bench: Bench): Promise<string> {
  const lines: string[][] = []
  for (const connections of CONNECTIONS) {
    const alone = await costs(bench, `alone${connections}`, 1, connections)
    const forwarded = await costs(bench, `forwarded${connections}`, 2, connections)
    const columns = [...alone.instances, ...forwarded.instances]
    const row = (name: string, values: readonly number[]): string[] => [
      `${name}, ${connections} connections`,
      ...values.map(whole),
    ]
    for (const stage of stages)
      lines.push(
        row(
          stage,
          columns.map((costOf) => costOf.get(stage) ?? 0),
        ),
      )
    const sums = columns.map((costOf) => [...costOf.values()].reduce((sum, cost) => sum + cost, 0))
    lines.push(row('**the process**', sums), [...row('PostgreSQL', [alone.postgres, forwarded.postgres]), ''])
  }
  return [
    '# What the stages of a gift cost, in µs of CPU',
    '',
    ...(await describeRun(bench.cluster)).map((line) => `- ${line}`),
    '- While profiled, which makes everything slower by a tenth or more',
    '',
    ...table(['stage', 'an instance alone', 'the writer, all gifts forwarded', 'the instance that forwards'], lines),
  ].join('\n')
}

/** Of as many instances; with two, all gifts are sent to the second. */
async function costs(bench: Bench, name: string, count: 1 | 2, connections: number): Promise<Costs> {
  const { servers, generator, cluster, options } = bench
  const database = await bench.seeded(name)
  const folder = join(cluster.folder, 'profiles', name)
  mkdirSync(folder, { recursive: true })
  const group: Server[] = []
  for (let i = 0; i < count; i += 1) {
    const profiled = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${i}.cpuprofile`]
    const server = await servers.ours(database, profiled, { DATA_DIR: `${cluster.folder}/${name}` })
    group.push(server)
    if (i === 0) await untilMetric(server, 'ledger_is_writer', 1)
  }
  const [writer] = group
  const target = group.at(-1)
  if (writer === undefined || target === undefined) throw new Error('no instance was started')
  await untilMetric(writer, 'ledger_forwarding_instances', count - 1)
  const { port } = target
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  progress(`measuring ${name}`)
  const cpuNow = (): number[] => [...group.map(({ pid }) => cpuOf(pid)), cpuOfCluster(cluster.postmaster)]
  const before = cpuNow()
  const from = monotonicMicros()
  const job = { kind: 'closed', port, mix: 'uniform', connections, seconds: options.seconds } as const
  const { answered } = await generator.call(job, Measured)
  const until = monotonicMicros()
  const spent = cpuNow().map((cpu, i) => (cpu - (before[i] ?? 0)) / answered)
  for (const server of group.toReversed()) await server.stop()
  const instances = group.map((_, i) => {
    const { stages: shares } = sharesOf(readFileSync(join(folder, `${i}.cpuprofile`), 'utf8'), from, until)
    return new Map([...shares].map(([stage, percent]) => [stage, ((spent[i] ?? 0) * percent) / 100]))
  })
  return { instances, postgres: spent[count] ?? 0 }
}
