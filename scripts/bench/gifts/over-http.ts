import { createPositions } from '../baselines/naive-statements.ts'
import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'
import type { Part } from '../options.ts'
import type { Server } from '../run/servers.ts'

export const implementations = ['ours', 'naive', 'floor'] as const
export type Implementation = (typeof implementations)[number]

export type Turns = Readonly<Record<Implementation, Turn[]>>

type Work =
  | { readonly kind: 'closed'; readonly mix: 'uniform' | 'hot'; readonly connections: number }
  | { readonly kind: 'open'; readonly mix: 'uniform'; readonly perSecond: number }

const closed = (mix: 'uniform' | 'hot', connections: number): Work => ({ kind: 'closed', mix, connections })

const scenarios = {
  http: {
    'uniform, 64 connections': closed('uniform', 64),
    'uniform, 256 connections': closed('uniform', 256),
    'one hot receiver, 64 connections': closed('hot', 64),
    'one hot receiver, 256 connections': closed('hot', 256),
  },
  lone: { 'a lone request': closed('uniform', 1) },
  rate: { '500 requests a second': { kind: 'open', mix: 'uniform', perSecond: 500 } },
} as const satisfies Record<string, Record<string, Work>>

/** Turns of each implementation, by scenario. */
export type HttpResults = ReadonlyMap<string, Turns>

/** All implementations run all the time and take turns. */
export async function measureHttp(bench: Bench, parts: readonly Part[]): Promise<HttpResults> {
  const { options, generator, cluster } = bench
  const chosen = Object.entries(scenarios).flatMap(([part, list]) =>
    parts.some((wanted) => wanted === part) ? Object.entries<Work>(list) : [],
  )
  const results = new Map<string, Turns>(chosen.map(([name]) => [name, { ours: [], naive: [], floor: [] }]))
  if (chosen.length === 0) return results
  const servers = await startAll(bench)

  await roundRobin(options.rounds, chosen, async ([name, work], round) => {
    await roundRobin(
      1,
      [...implementations.slice(round % 3), ...implementations.slice(0, round % 3)],
      async (implementation) => {
        const server = servers[implementation]
        const job = { ...work, port: server.port, seconds: options.seconds }
        const turn = await turnOf(server, generator, cluster.postmaster, job)
        progress(
          `round ${round + 1}, ${name}, ${implementation}: ${Math.round(turn.perSecond)}/s, p50 ${turn.p50.toFixed(2)} ms`,
        )
        results.get(name)?.[implementation].push(turn)
      },
    )
  })
  return results
}

async function startAll(bench: Bench): Promise<Readonly<Record<Implementation, Server>>> {
  const { cluster, servers: start, generator } = bench
  const naive = await bench.seeded('naive')
  await cluster.asOwner(naive, createPositions)
  const servers = {
    ours: await start.ours(await bench.seeded('ours')),
    naive: await start.naive(naive),
    floor: await start.floor(),
  }
  for (const name of implementations) {
    progress(`warming up ${name}`)
    await generator.call({ kind: 'warm', port: servers[name].port, mix: 'uniform' }, Measured)
  }
  return servers
}
