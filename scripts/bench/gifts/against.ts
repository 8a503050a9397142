import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'
import type { DatabaseUrls } from '../run/cluster.ts'
import type { Server } from '../run/servers.ts'

const CONNECTIONS = [64, 256] as const

const names = ['ours', 'other'] as const
type Name = (typeof names)[number]

/** The turns of this checkout and of another one, by the number of connections. */
export type AgainstResults = ReadonlyMap<number, Readonly<Record<Name, Turn[]>>>

/**
 * Uniform gifts over HTTP on this checkout and on another one, for instance that of a commit before. Both run all the
 * time, each on a database that its own code has migrated and seeded, and one at a time has work.
 */
export async function measureAgainst(bench: Bench, folder: string): Promise<AgainstResults> {
  const { options, cluster, generator, servers: start } = bench
  const database = await cluster.create('other')
  await seedWith(folder, database)
  const servers: Readonly<Record<Name, Server>> = {
    ours: await start.ours(await bench.seeded('ours')),
    other: await start.checkout(folder, database),
  }
  for (const name of names) {
    progress(`warming up ${name}`)
    await generator.call({ kind: 'warm', port: servers[name].port, mix: 'uniform' }, Measured)
  }
  const results = new Map(CONNECTIONS.map((connections) => [connections, { ours: [] as Turn[], other: [] as Turn[] }]))
  await roundRobin(options.rounds, [...results], async ([connections, turns], round) => {
    await roundRobin(1, round % 2 === 0 ? names : names.toReversed(), async (name) => {
      const server = servers[name]
      const job = { kind: 'closed', mix: 'uniform', connections, port: server.port, seconds: options.seconds } as const
      const turn = await turnOf(server, generator, cluster.postmaster, job)
      progress(`round ${round + 1}, ${connections} connections, ${name}: ${Math.round(turn.perSecond)}/s`)
      turns[name].push(turn)
    })
  })
  return results
}

/** A database has to be migrated by the code that works on it: older code refuses newer migrations. */
async function seedWith(folder: string, database: DatabaseUrls): Promise<void> {
  const module: object = await import(pathToFileURL(join(folder, 'scripts/bench/seed.ts')).href)
  if (!('seed' in module) || typeof module.seed !== 'function') throw new Error(`${folder} has no bench that seeds`)
  await module.seed(database)
}
