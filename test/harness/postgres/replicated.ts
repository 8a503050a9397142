import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Binaries, type Cluster, prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-session.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { grantService } from '../../../src/db/roles.ts'
import { reservePort } from '../process/reserve-port.ts'
import type { Scope } from '../scope.ts'
import { queryOnce } from './query-once.ts'
import { inTestSchema } from './test-schema.ts'

export interface Server {
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** Its folder; `postgres` in it is the cluster. */
  readonly dataDir: string
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Runs SQL as the superuser. */
  admin(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** A migrated PostgreSQL and a standby of it. */
export interface ReplicatedPostgres {
  readonly primary: Server
  readonly standby: Server
}

/** By the standby's `primary_conninfo`, for `synchronous_standby_names`. */
export const STANDBY_NAME = 'economy_standby'

/**
 * Starts both in an empty folder. The standby is a copy of the primary's files while that is stopped: not every
 * installation has pg_basebackup.
 */
export async function startReplicated(t: Scope, folder: string, binaries: Binaries): Promise<ReplicatedPostgres> {
  const primaryDir = join(folder, 'primary')
  const standbyDir = join(folder, 'standby')
  const primary = await prepareCluster(primaryDir, binaries)
  const { port, client } = await startAndConnect(primary)
  await client.end()
  const ownerUrl = inTestSchema(primary.url('economy_owner', port))
  await migrate(ownerUrl)
  await grantService(ownerUrl, 'economy_service')
  await primary.stop()

  // With the owners of the files: as root, PostgreSQL runs as another user.
  execFileSync('cp', ['-a', primaryDir, standbyDir])
  const password = primary.password('postgres')
  const settings = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${STANDBY_NAME}'\n`
  appendFileSync(join(standbyDir, 'postgres', 'postgresql.auto.conf'), settings)
  const signalFile = join(standbyDir, 'postgres', 'standby.signal')
  writeFileSync(signalFile, '')
  const { uid, gid } = statSync(join(standbyDir, 'postgres'))
  chownSync(signalFile, uid, gid)
  const standby = await prepareCluster(standbyDir, binaries)

  const servers = { primary: serverOf(primary, port), standby: serverOf(standby, await reservePort()) }
  for (const server of [servers.primary, servers.standby]) {
    t.teardown(() => server.stop())
    await server.start()
  }
  return servers
}

/** A cluster on this port, running or not. */
export function serverOf(cluster: Cluster, port: number): Server {
  return {
    ownerUrl: inTestSchema(cluster.url('economy_owner', port)),
    serviceUrl: inTestSchema(cluster.url('economy_service', port)),
    dataDir: cluster.dataDir,
    stop: () => cluster.stop(),
    start: () => cluster.start(port),
    admin: (sql) => queryOnce(cluster.url('postgres', port, 'postgres'), sql),
  }
}

/** Makes the primary wait for the standby with every commit. */
export async function makeSynchronous({ primary }: ReplicatedPostgres): Promise<void> {
  await primary.admin(`alter system set synchronous_standby_names = '${STANDBY_NAME}'`)
  await primary.admin('select pg_reload_conf()')
}
