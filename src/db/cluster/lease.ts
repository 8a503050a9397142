import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { errorCode } from '../../config/error-code.ts'
import { dataDirError } from '../../config/secret-file.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { type StartOptions, startAndConnect, tryLockCluster } from './cluster-lock.ts'

/** A running PostgreSQL of the service, for the use of a command-line tool. */
export interface ClusterLease {
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** To be called when all other sessions of the tool are closed. */
  close(): Promise<void>
}

/**
 * Connects to the PostgreSQL in `dataDir`, whether the service runs or not, without blocking the service. If it was not
 * running it is started, and `close` stops it unless another session uses it by then.
 * Throws when there is no database in `dataDir`.
 */
export async function leaseEmbedded(dataDir: string, options: StartOptions = {}): Promise<ClusterLease> {
  if (!hasCluster(dataDir)) {
    throw new Error(`There is no database in ${dataDir}: start the service once (npm start), or set DATABASE_URL`)
  }
  const cluster = await prepareCluster(dataDir)
  const { port, client, started } = await startAndConnect(cluster, options)
  return {
    ownerUrl: cluster.url('economy_owner', port),
    serviceUrl: cluster.url('economy_service', port),
    close: async () => {
      if (started) await stopIfUnused(cluster, client)
      await client.end()
    },
  }
}

/** Throws when the folder cannot be read. */
function hasCluster(dataDir: string): boolean {
  try {
    statSync(join(dataDir, 'postgres', 'PG_VERSION'))
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw dataDirError(dataDir, error)
  }
}

/**
 * Keeping the owner's lock while it stops makes a service that starts meanwhile wait and then start PostgreSQL again.
 * Taken late, so that such a service does not wait for nothing.
 */
async function stopIfUnused(cluster: Cluster, client: Client): Promise<void> {
  // The tool's own sessions were just closed and take a moment to disappear.
  for (let tries = 0; tries < 10 && (await hasOtherSessions(client)); tries += 1) await sleep(50)
  if (await hasOtherSessions(client)) return
  if (await tryLockCluster(client)) await cluster.stop()
}

async function hasOtherSessions(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_stat_activity where pid <> pg_backend_pid() and datname is not null and usename is not null`,
  )
  return rowCount !== 0
}
