import { HelperProcess } from '../../test/harness/process/child-process-rpc.ts'
import type { Options } from './options.ts'
import type { BenchCluster, DatabaseUrls } from './run/cluster.ts'
import { startCluster } from './run/cluster.ts'
import { keys } from './run/keys.ts'
import { Servers } from './run/servers.ts'
import { seed } from './seed.ts'

/** What all parts of a run share. */
export interface Bench {
  readonly options: Options
  readonly cluster: BenchCluster
  readonly generator: HelperProcess
  readonly servers: Servers
  /** A database of its own, with users, rooms and the gift. */
  seeded(name: string): Promise<DatabaseUrls>
  /** Starts a helper process on that database. */
  helper(file: string, database: DatabaseUrls): HelperProcess
}

const SEED = 'seed'
/** That of `src/config`. */
const DEFAULT_RATE_LIMIT = '1200'

/** Everything it starts is stopped by `cleanUp`. */
export async function openBench(options: Options, cleanUp: AsyncDisposableStack): Promise<Bench> {
  progress('starting PostgreSQL and seeding')
  const cluster = await startCluster(cleanUp, { statements: options.profile })
  await seed(await cluster.create(SEED))
  const start = (file: string, environment: Readonly<Record<string, string>>): HelperProcess => {
    const helper = new HelperProcess(new URL(file, import.meta.url), environment)
    cleanUp.defer(() => helper.stop())
    return helper
  }
  return {
    options,
    cluster,
    servers: new Servers(cluster.folder, cleanUp, options.rateLimited ? { RATE_LIMIT: DEFAULT_RATE_LIMIT } : {}),
    generator: start('load/generator.ts', { JWT_SECRET: keys.JWT_SECRET, KEYED: options.keyed ? '1' : '0' }),
    seeded: (name) => cluster.create(name, SEED),
    helper: (file, { serviceUrl }) => start(file, { DATABASE_URL: serviceUrl, ...keys }),
  }
}

/** Prints progress on stderr, as stdout is for the table. */
export function progress(text: string): void {
  process.stderr.write(`${Math.round(performance.now() / 1000)} s: ${text}\n`)
}

/** Gives every item a turn in each round, each time starting with another one. */
export async function roundRobin<Item>(
  rounds: number,
  items: readonly Item[],
  turn: (item: Item, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < items.length; i += 1) {
      const item = items[(i + round) % items.length]
      if (item !== undefined) await turn(item, round)
    }
  }
}
