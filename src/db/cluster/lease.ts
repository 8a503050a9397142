import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { errorCode } from '../../config/error-code.ts'
import { dataDirError } from '../../config/secret-file.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { startAndConnect, tryLockCluster } from './cluster-lock.ts'

/** A running PostgreSQL of the service, lent to a command-line tool. */
export interface ClusterLease {
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** To be called when all other sessions of the tool are closed. */
  close(): Promise<void>
}

/**
 * Attaches to the PostgreSQL in `dataDir`, whether the service runs or not, and does not stand in its way. Where
 * nobody had it running it is started, and stopped by `close` unless somebody has come to use it meanwhile.
 * Throws when there is no database in `dataDir`.
 */
export async function leaseEmbedded(dataDir: string): Promise<ClusterLease> {
  if (!hasCluster(dataDir)) {
    throw new Error(`There is no database in ${dataDir}: start the service once (npm start), or set DATABASE_URL`)
  }
  const cluster = await prepareCluster(dataDir)
  const { port, client, started } = await startAndConnect(cluster)
  return {
    ownerUrl: cluster.url('economy_owner', port),
    serviceUrl: cluster.url('economy_service', port),
    close: async () => {
      if (started) await stopIfUnused(cluster, client)
      await client.end()
    },
  }
}

/** Throws when that cannot be told, because the folder is another user's or no folder. */
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
 * Being the keeper while it stops makes a service that starts meanwhile wait and then start PostgreSQL anew. Asked
 * for late, so that such a service is not kept waiting in vain.
 */
async function stopIfUnused(cluster: Cluster, client: Client): Promise<void> {
  // The tool's own sessions were closed just now and take a moment to go.
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
