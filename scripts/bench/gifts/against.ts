import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'
import type { DatabaseUrls } from '../run/cluster.ts'
import { seedWith } from '../run/seed-with.ts'
import type { Server } from '../run/servers.ts'
import { seed } from '../seed.ts'

const CONNECTIONS = [64, 256] as const

const INDEX_POLL_MS = 20

const names = ['ours', 'other'] as const
type Name = (typeof names)[number]

/** Turns of both checkouts, by number of connections. */
export type AgainstResults = ReadonlyMap<number, Readonly<Record<Name, Turn[]>>>

/** After so many rounds both servers are started anew: how one was compiled and laid out in memory counts for a while. */
const ROUNDS_OF_A_PROCESS = 5

/** Waits for the indexes of a ledger, which would otherwise be written during the turn of the other checkout. */
async function untilIndexed(cluster: Bench['cluster'], name: Name): Promise<void> {
  const behind = `select 1 from ledger_cursors c, ledger_head h where c.name = 'indexes' and c.position < h.position`
  while ((await cluster.ask(behind, name)).length > 0) await sleep(INDEX_POLL_MS)
}

/**
 * Compares gifts over HTTP of this checkout and another one, for example of an earlier commit. Each has a database that
 * its own code migrated and seeded. Both run at the same time and take turns; who is first, in a round and in starting,
 * alternates.
 */
export async function measureAgainst(bench: Bench, folder: string): Promise<AgainstResults> {
  const { options, cluster, generator, servers } = bench
  const databases: Readonly<Record<Name, DatabaseUrls>> = {
    ours: await cluster.create('ours'),
    other: await cluster.create('other'),
  }
  await seed(databases.ours)
  await seedWith(folder, databases.other)
  const results = new Map(CONNECTIONS.map((connections) => [connections, { ours: [] as Turn[], other: [] as Turn[] }]))
  const start = async (name: Name): Promise<Server> => {
    const server =
      name === 'ours' ? await servers.ours(databases.ours) : await servers.product(databases.other, { folder })
    await generator.call({ kind: 'warm', port: server.port, mix: 'uniform' }, Measured)
    return server
  }
  let running = new Map<Name, Server>()
  for (let round = 0; round < options.rounds; round += 1) {
    if (round % ROUNDS_OF_A_PROCESS === 0) {
      for (const server of running.values()) await server.stop()
      running = new Map()
      const isSwapped = (round / ROUNDS_OF_A_PROCESS) % 2 === 1
      for (const name of isSwapped ? names.toReversed() : names) running.set(name, await start(name))
    }
    // Not in turn: the one that ends a setting must not always begin the next.
    for (const [connections, turns] of results) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const server = running.get(name)
        if (server === undefined) throw new Error(`${name} does not run`)
        const job = {
          kind: 'closed',
          mix: 'uniform',
          connections,
          port: server.port,
          seconds: options.seconds,
        } as const
        const turn = await turnOf(server, generator, cluster.postmaster, job)
        await untilIndexed(cluster, name)
        progress(`round ${round + 1}, ${connections} connections, ${name}: ${Math.round(turn.perSecond)}/s`)
        turns[name].push(turn)
      }
    }
  }
  return results
}
