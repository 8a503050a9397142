import { freePort } from '../../../../src/db/cluster/free-port.ts'
import { HttpConnection } from '../../../../test/harness/http/http-connection.ts'
import { HelperProcess } from '../../../../test/harness/process/child-process-rpc.ts'
import { progress } from '../../bench.ts'
import { type BenchCluster, type DatabaseUrls, startCluster } from '../../run/cluster.ts'
import { keys } from '../../run/keys.ts'
import { seedWith } from '../../run/seed-with.ts'
import { type Server, Servers } from '../../run/servers.ts'
import { seed } from '../../seed.ts'
import type { LiveOptions } from '../options.ts'
import { defineGift } from './requests.ts'

/** A checkout whose service is measured. */
export interface Contender {
  readonly name: string
  /** Null: this checkout. */
  readonly folder: string | null
}

/** What the parts with a service of its own share. */
export interface LiveBench {
  readonly options: LiveOptions
  readonly cluster: BenchCluster
  readonly contenders: readonly Contender[]
  /** A database with users, rooms and gifts, as the contender's own code seeds it, and with members of rooms. */
  seeded(contender: Contender, members: Iterable<Member>): Promise<DatabaseUrls>
  /** `ports`: of a server that has ended, to start another one in its place. */
  start(
    database: DatabaseUrls,
    contender: Contender,
    launch?: { readonly ports?: LiveServer; readonly nodeOptions?: readonly string[] },
  ): Promise<LiveServer>
  /** A process of clients, which `cleanUp` ends. */
  clients(file: URL): HelperProcess
}

export type Member = readonly [user: number, room: number]

export interface LiveServer extends Server {
  /** Where it takes sockets. */
  readonly livePort: number
}

/** Everything it starts is stopped by `cleanUp`. */
export async function openLiveBench(options: LiveOptions, cleanUp: AsyncDisposableStack): Promise<LiveBench> {
  progress('starting PostgreSQL')
  const cluster = await startCluster(cleanUp, { statements: false })
  const servers = new Servers(cluster.folder, cleanUp)
  let databases = 0
  const contenders: readonly Contender[] =
    options.against === null
      ? [{ name: 'this checkout', folder: null }]
      : [
          { name: 'this checkout', folder: null },
          { name: 'the other', folder: options.against },
        ]
  return {
    options,
    cluster,
    contenders,
    async seeded({ name, folder }, members) {
      progress(`seeding for ${name}`)
      databases += 1
      const database = await cluster.create(`live_${databases}`)
      await (folder === null ? seed(database) : seedWith(folder, database))
      const rows = [...members].map(([user, room]) => `(${room}, ${user})`)
      // Not by requests, of which ten thousand would take as long as the measurement.
      await cluster.asOwner(
        database,
        `insert into room_members (room_id, user_id) values ${rows.join()} on conflict do nothing`,
      )
      return database
    },
    async start(database, { folder }, { ports, nodeOptions = [] } = {}) {
      const livePort = options.livePort ? (ports?.livePort ?? (await freePort())) : null
      const environment = {
        DATA_DIR: `${cluster.folder}/${new URL(database.serviceUrl).pathname.slice(1)}`,
        ...(livePort !== null && { LIVE_PORT: String(livePort) }),
      }
      const port = ports === undefined ? {} : { port: ports.port }
      const server = await servers.product(database, { folder, nodeOptions, environment, ...port })
      return { ...server, livePort: livePort ?? server.port }
    },
    clients(file) {
      const helper = new HelperProcess(file, { TOKEN_SECRET: keys.JWT_SECRET })
      cleanUp.defer(() => helper.stop())
      return helper
    },
  }
}

/** Defines the gift that makes frames. */
export async function defineLuckyGift(port: number): Promise<void> {
  const connection = new HttpConnection(port)
  const { status, text } = await connection.send(defineGift())
  if (status >= 300) throw new Error(`answered ${status}: ${text}`)
  await connection.close()
}
