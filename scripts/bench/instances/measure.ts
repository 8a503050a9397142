import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { cpuOf, cpuOfCluster } from '../profile/cpu.ts'
import type { Server } from '../run/servers.ts'

const CONNECTIONS = [64, 256] as const

/** How many instances there are, and which of them the load goes to. */
export const setups = {
  one: { count: 1, load: 'all', shared: true },
  'two, load on both': { count: 2, load: 'all', shared: true },
  'three, load on all': { count: 3, load: 'all', shared: true },
  'two, all gifts forwarded': { count: 2, load: 'others', shared: true },
  'two, each writing itself': { count: 2, load: 'all', shared: false },
} as const
export type Setup = keyof typeof setups

export interface InstancesTurn {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** CPU time in microseconds a gift. */
  readonly writer: number
  readonly others: number
  readonly postgres: number
}

/** Turns of each setup, by number of connections. */
export type InstancesResults = ReadonlyMap<number, ReadonlyMap<Setup, readonly InstancesTurn[]>>

/** The instances of a setup, the writer first. */
type Group = readonly [Server, ...Server[]]

/** Compares gifts over HTTP of several instances on one database with those of one. All run all the time and take turns. */
export async function measureInstances(bench: Bench): Promise<InstancesResults> {
  const { options, generator, cluster } = bench
  const names = Object.keys(setups).filter((name): name is Setup => name in setups)
  const groups = new Map<string, Group>()
  const groupOf = async (name: Setup): Promise<Group> => {
    const { count, shared } = setups[name]
    const key = `${shared ? 'shared' : 'separate'}${count}`
    const group = groups.get(key) ?? (await startGroup(bench, key, count, shared))
    groups.set(key, group)
    return group
  }
  const results = new Map(CONNECTIONS.map((connections) => [connections, new Map<Setup, InstancesTurn[]>()]))
  for (const name of names) await groupOf(name)
  await roundRobin(options.rounds, [...results], async ([connections, turns], round) => {
    await roundRobin(1, round % 2 === 0 ? names : names.toReversed(), async (name) => {
      const group = await groupOf(name)
      const targets = setups[name].load === 'all' ? group : group.slice(1)
      const [port = 0, ...otherPorts] = targets.map((server) => server.port)
      const before = cpuNow(group, cluster.postmaster)
      const job = { kind: 'closed', mix: 'uniform', connections, port, otherPorts, seconds: options.seconds } as const
      const { answered, perSecond, p50, p99 } = await generator.call(job, Measured)
      const after = cpuNow(group, cluster.postmaster)
      const each = (field: keyof typeof before): number => (after[field] - before[field]) / answered
      const turn = { perSecond, p50, p99, writer: each('writer'), others: each('others'), postgres: each('postgres') }
      progress(`round ${round + 1}, ${connections} connections, ${name}: ${Math.round(perSecond)}/s`)
      turns.set(name, [...(turns.get(name) ?? []), turn])
    })
  })
  return results
}

function cpuNow([writer, ...others]: Group, postmaster: number) {
  return {
    writer: cpuOf(writer.pid),
    others: others.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    postgres: cpuOfCluster(postmaster),
  }
}

/** Starts instances on a database of their own. Those that do not share a folder cannot reach each other. */
async function startGroup(bench: Bench, name: string, count: number, shared: boolean): Promise<Group> {
  const { servers, generator, cluster } = bench
  const database = await bench.seeded(name)
  const start = (i: number): Promise<Server> =>
    servers.ours(database, [], { DATA_DIR: `${cluster.folder}/${name}${shared ? '' : i}` })
  const writer = await start(0)
  await untilMetric(writer, 'ledger_is_writer', 1)
  const others: Server[] = []
  for (let i = 1; i < count; i += 1) others.push(await start(i))
  if (shared) await untilMetric(writer, 'ledger_forwarding_instances', count - 1)
  for (const { port } of [writer, ...others]) {
    progress(`warming up ${name}`)
    await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  }
  return [writer, ...others]
}

export async function untilMetric({ port }: Server, name: string, value: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    if (text.includes(`\n${name} ${value}\n`)) return
    await sleep(50)
  }
}
