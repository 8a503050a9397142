import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { errorCode } from '../../config/error-code.ts'
import { dataDirError } from '../../config/files.ts'
import { connect } from '../connect.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import {
  connectOwner,
  ensureRunning,
  isTransient,
  Silence,
  type StartOptions,
  startAndConnect,
  tryLockCluster,
  writeAddresses,
} from './cluster-session.ts'

/** A running PostgreSQL that this process owns: it restarts it when it dies, and alone may stop it. */
export interface Embedded {
  /** Owns the database `economy` and migrates it. */
  readonly ownerUrl: string
  /** The service's own, restricted role. */
  readonly serviceUrl: string
  /** Ends all sessions, shuts PostgreSQL down and waits until it is down. Calling it again waits for the same. */
  stop(): Promise<void>
}

/** Another running process owns the data directory. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'

  constructor(dataDir: string) {
    const file = `${dataDir}/database-url`
    const argument = /\s/.test(file) ? `"${file}"` : file
    super(
      `The data directory ${dataDir} is in use: another instance of the service owns its PostgreSQL, which keeps ` +
        `running. To run a second instance on it: DATABASE_URL=$(cat ${argument}) PORT=3001 npm start`,
    )
  }
}

/** How long a stopping owner may take to release the cluster. */
const HANDOVER_TIMEOUT_MS = 500
/** How often a new session is opened to see whether PostgreSQL answers, and how long that may take on a busy machine. */
const PING_INTERVAL_MS = 10_000
const PING_TIMEOUT_MS = 20_000
/** As `PING_TIMEOUT_MS`, once the service is asked to stop. */
const LAST_PING_TIMEOUT_MS = 4_000

/**
 * Starts PostgreSQL in `dataDir`, or takes over the one that runs there when its owner was killed. It listens on
 * 127.0.0.1 only. Until `stop`, a PostgreSQL that dies, or is alive and answers nobody, is started again on the same
 * port. One that answers nobody when `signal` is aborted is ended within seconds, as it would keep from stopping what waits
 * for it.
 *
 * Throws a DataDirInUse when another process owns the data directory, and an Error that says what to do when
 * PostgreSQL cannot be run here; then none that this call started is left.
 */
export async function openEmbedded(dataDir: string, options: StartOptions = {}): Promise<Embedded> {
  const { log = console, signal } = options
  const cluster = await prepareCluster(dataDir)
  const { port, client } = await lockCluster(cluster, options)
  try {
    writeAddresses(cluster, port)
  } catch (error) {
    await cluster.stop()
    throw error
  }

  const ownerUrl = cluster.url('economy_owner', port)
  let lockSession: Client | null = null
  const stopping = new AbortController()
  let restarting = Promise.resolve()
  let stopped: Promise<void> | null = null

  const silence = new Silence(cluster, log)
  const supervise = async (session: Client): Promise<void> => {
    while (lockSession === session) {
      await sleep(PING_INTERVAL_MS, undefined, { ref: false })
      try {
        const client = await connect(ownerUrl, 'economy supervision', { timeoutMs: PING_TIMEOUT_MS })
        // Not awaited: it may fall silent now.
        void client.end()
        silence.answered()
      } catch (error) {
        silence.failed(error)
      }
    }
  }

  const watch = (session: Client): void => {
    lockSession = session
    void supervise(session)
    session.once('end', () => {
      lockSession = null
      if (!stopping.signal.aborted) restarting = restart()
    })
  }

  const restart = async (): Promise<void> => {
    log.warn({ dataDir }, 'embedded PostgreSQL stopped; restarting it')
    let lastError = ''
    while (!stopping.signal.aborted) {
      try {
        await ensureRunning(cluster, port)
        const client = await connectOwner(cluster, port)
        silence.answered()
        if (await tryLockCluster(client)) {
          watch(client)
          log.warn({ dataDir }, 'embedded PostgreSQL restarted')
          return
        }
        // Another process was faster and owns it now. This one uses it, and takes over when the other stops.
        await client.end()
        await sleep(1000)
      } catch (error) {
        const message = String(error)
        if (message !== lastError)
          log.warn({ dataDir, err: error }, 'embedded PostgreSQL could not be restarted; retrying')
        lastError = message
        silence.failed(error)
        await sleep(100)
      }
    }
  }

  const endIfSilent = async (): Promise<void> => {
    try {
      const client = await connect(ownerUrl, 'economy supervision', { timeoutMs: LAST_PING_TIMEOUT_MS })
      void client.end()
    } catch (err) {
      const running = cluster.running()
      // Whatever has a code was said by PostgreSQL, or by the system where none listens.
      if (running === null || errorCode(err) !== undefined) return
      stopping.abort()
      log.warn({ pid: running.pid, log: cluster.log, err }, 'embedded PostgreSQL answers nobody; ending it')
      cluster.kill()
    }
  }

  const shutDown = async (): Promise<void> => {
    stopping.abort()
    await restarting
    const session = lockSession
    if (session !== null) {
      await cluster.stop()
      await session.end()
    } else if (cluster.running() !== null) {
      // The session broke moments ago. Stop PostgreSQL all the same, unless another process owns it now.
      const { client } = await startAndConnect(cluster, { log })
      if (await tryLockCluster(client)) await cluster.stop()
      await client.end()
    }
  }

  watch(client)
  signal?.addEventListener('abort', () => void endIfSilent(), { once: true })
  return {
    ownerUrl,
    serviceUrl: cluster.url('economy_service', port),
    stop: () => (stopped ??= shutDown()),
  }
}

async function lockCluster(cluster: Cluster, options: StartOptions): Promise<{ port: number; client: Client }> {
  const deadline = Date.now() + HANDOVER_TIMEOUT_MS
  for (;;) {
    const { port, client } = await startAndConnect(cluster, options)
    try {
      if (await tryLockCluster(client)) return { port, client }
    } catch (error) {
      // The former owner has just stopped it: start it again.
      if (!isTransient(error)) throw error
    }
    await client.end()
    if (Date.now() > deadline) throw new DataDirInUse(cluster.dataDir)
    await sleep(100)
  }
}

/** A running PostgreSQL of the service, for the use of a command-line tool. */
interface ClusterLease {
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
