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

/** Turns of both checkouts, by number of connections. */
export type AgainstResults = ReadonlyMap<number, Readonly<Record<Name, Turn[]>>>

/**
 * Compares gifts over HTTP of this checkout and another one, for example of an earlier commit. Both run all the time, each
 * on a database that its own code migrated and seeded, and take turns.
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

/** Migrates and seeds with the other checkout's code, as older code refuses newer migrations. */
async function seedWith(folder: string, database: DatabaseUrls): Promise<void> {
  const module: object = await import(pathToFileURL(join(folder, 'scripts/bench/seed.ts')).href)
  if (!('seed' in module) || typeof module.seed !== 'function')
    throw new Error(`${folder} has no scripts/bench/seed.ts`)
  await module.seed(database)
}
