import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPositions } from '../baselines/naive-statements.ts'
import { type Bench, progress, roundRobin } from '../bench.ts'
import { type JobMix, Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'
import type { Server } from '../run/servers.ts'
import { ROOMS, USERS } from '../workload.ts'
import { compareAnswers, sampleAnswers } from './answers.ts'
import { prepareReads } from './seed.ts'
import { HISTORY_USERS, type ReadName } from './workload.ts'

const implementations = ['ours', 'naive', 'floor'] as const
type Implementation = (typeof implementations)[number]

export type ReadTurns = Readonly<Record<Implementation, Turn[]>>

/** One connection at a time, and many. */
export const loads = [64, 256, 1] as const
export type Load = (typeof loads)[number]

export interface ReadScenario {
  readonly subject: 'gift' | ReadName | 'app'
  readonly connections: Load
  readonly turns: ReadTurns
}

/** Reads are many: a turn takes a part of `--seconds`, a lone connection's less. */
export const turnSeconds = (seconds: number, connections: number): number => seconds / (connections === 1 ? 4 : 2)

/** Requests of each read beforehand, for the compilers of Node and the plans of PostgreSQL. */
const WARM_READS = 500
const WARM_GIFTS = 2_000

const ASSETS = { ASSET_BASE_URL: 'http://assets.test' }

/** Gifts, reads and the mix of an app: all implementations run all the time, and one at a time has work. */
export async function measureReads(bench: Bench): Promise<readonly ReadScenario[]> {
  const { options, generator, cluster } = bench
  const servers = await startAll(bench)
  const scenarios = loads.flatMap((connections) =>
    (['gift', ...options.reads, 'app'] as const).map(
      (subject): ReadScenario => ({ subject, connections, turns: { ours: [], naive: [], floor: [] } }),
    ),
  )
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { subject, connections, turns } of scenarios) {
      const rates: string[] = []
      const present = implementations.filter((name) => subject !== 'app' || name !== 'floor')
      const turned = present.map((_, i) => present[(i + round) % present.length] ?? 'ours')
      await roundRobin(1, turned, async (name) => {
        const { port } = servers[name]
        const seconds = turnSeconds(options.seconds, connections)
        const job = { kind: 'closed', mix: mixOf(subject), port, connections, seconds } as const
        const turn = await turnOf(servers[name], generator, cluster.postmaster, job)
        rates.push(`${name} ${Math.round(turn.perSecond)}/s, p50 ${turn.p50.toFixed(2)} ms`)
        turns[name].push(turn)
      })
      progress(`round ${round + 1}, ${subject}, connections: ${connections}: ${rates.join('; ')}`)
    }
  }
  return scenarios
}

const mixOf = (subject: ReadScenario['subject']): JobMix => (subject === 'gift' ? 'uniform' : subject)

async function startAll({
  options,
  cluster,
  servers: start,
  generator,
  ...bench
}: Bench): Promise<Readonly<Record<Implementation, Server>>> {
  progress('seeding what is read')
  const seeded = 'seeded_reads'
  await prepareReads(cluster, await bench.seeded(seeded), { users: USERS, rooms: ROOMS })
  const naiveDatabase = await cluster.create('naive_reads', seeded)
  await cluster.asOwner(naiveDatabase, createPositions)
  progress('starting the implementations')
  const ours = await start.ours(await cluster.create('our_reads', seeded), [], ASSETS)
  const naive = await start.naive(naiveDatabase, ASSETS)
  await compareAnswers(ours, naive, [1, HISTORY_USERS])
  const answers = join(cluster.folder, 'answers.json')
  writeFileSync(answers, JSON.stringify(await sampleAnswers(ours)))
  const servers = { ours, naive, floor: await start.floor({ ANSWERS: answers }) }
  for (const name of implementations) {
    progress(`warming up ${name}`)
    const warm = async (mix: JobMix, count?: number): Promise<void> =>
      void (await generator.call({ kind: 'warm', port: servers[name].port, mix, count }, Measured))
    // The bag is the cheapest request that shows every user's token; the product also caches accounts.
    await warm('bag')
    await warm('uniform', name === 'ours' ? USERS : WARM_GIFTS)
    for (const read of options.reads) await warm(read, WARM_READS)
  }
  return servers
}
