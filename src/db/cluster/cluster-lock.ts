import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { errorCode } from '../../config/error-code.ts'
import { replaceFile } from '../../config/secret-file.ts'
import { connect } from '../connect.ts'
import type { Log } from '../log.ts'
import { provision } from '../migrations/provision.ts'
import { type Cluster, StartError } from './cluster.ts'
import { freePort } from './free-port.ts'
import type { Postmaster } from './postmaster.ts'
import { Silence } from './silence.ts'

/** A running cluster and a session of the role `economy_owner`. */
export interface ClusterSession {
  readonly port: number
  readonly client: Client
  /** Whether this call started it. */
  readonly started: boolean
}

/** Any number that nothing else uses, in the database `economy`. */
const OWNER_LOCK_ID = 5_202_611_210_002

/**
 * Takes the lock that makes this session the cluster's owner, which alone may stop PostgreSQL; false when another session
 * owns it. PostgreSQL releases the lock when the session ends, however it ends.
 */
export async function tryLockCluster(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ kept: boolean }>('select pg_try_advisory_lock($1) as kept', [OWNER_LOCK_ID])
  return rows[0]?.kept === true
}

/**
 * Tries once to start the cluster unless it runs, on `port` or on a free one. `started` says whether this call did it.
 * Throws a StartError.
 */
export async function ensureRunning(
  cluster: Cluster,
  port: number | null,
): Promise<{ port: number; started: boolean }> {
  const running = cluster.running()
  if (running !== null) return { port: running.port, started: false }
  const chosen = port ?? (await freePort(lastPort(cluster.dataDir)))
  await cluster.start(chosen)
  return { port: chosen, started: true }
}

const MAX_STARTS = 10
const REPORT_INTERVAL_MS = 5_000
/** For one that was started here and that nobody has used yet. */
const ABANDON_TIMEOUT_SECONDS = 3

export interface StartOptions {
  readonly log?: Log
  /** Ends the wait. */
  readonly signal?: AbortSignal
}

/**
 * Starts the cluster unless it runs, and connects. Waits while PostgreSQL is starting, recovering or stopping, and logs
 * that it waits. When it throws, a PostgreSQL that it started is down again.
 */
export async function startAndConnect(
  cluster: Cluster,
  { log = console, signal }: StartOptions = {},
): Promise<ClusterSession> {
  const silence = new Silence(cluster, log)
  let startedByUs = false
  let lastError: unknown
  const report = setInterval(() => {
    const process = cluster.running()
    const who = process === null ? 'no process yet' : `process ${process.pid}`
    log.warn({ err: lastError }, `waiting for embedded PostgreSQL (${who}); its log is ${cluster.log}`)
  }, REPORT_INTERVAL_MS)
  try {
    for (let starts = 0; ; ) {
      signal?.throwIfAborted()
      try {
        if (cluster.running() === null) starts += 1
        const { port, started } = await ensureRunning(cluster, null)
        startedByUs ||= started
        signal?.throwIfAborted()
        if (started) writeAddresses(cluster, port)
        return { port, client: await connectOwner(cluster, port), started: startedByUs }
      } catch (error) {
        if (!isTransient(error) || starts === MAX_STARTS) throw error
        silence.failed(error)
        lastError = error
      }
      await sleep(100)
    }
  } catch (error) {
    const process = cluster.running()
    if (startedByUs) {
      await cluster.stop(ABANDON_TIMEOUT_SECONDS).catch(() => cluster.kill())
      // One that was killed is there for a moment.
      for (let i = 0; i < 100 && cluster.running() !== null; i += 1) await sleep(10)
    }
    throw signal?.aborted ? error : withWhereabouts(error, cluster, process)
  } finally {
    clearInterval(report)
  }
}

/** The error, with the process and the log that tell more. */
function withWhereabouts(error: unknown, { log }: Cluster, process: Postmaster | null): Error {
  const message = (error instanceof Error ? error.message : String(error)).replace(/\.?$/, '.')
  const was = process === null ? 'No process of PostgreSQL was left' : `PostgreSQL was process ${process.pid}`
  return new Error(`${message} ${was}; its log is ${log}.`, { cause: error })
}

/** Whether a retry may help: it did not start, does not listen yet, or ended the session. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StartError) return true
  const code = errorCode(error)
  if (code === undefined) return error instanceof Error && /terminated|timeout/.test(error.message)
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'].includes(code)
}

/** Writes the cluster's addresses, for operators, tools and other instances. */
export function writeAddresses(cluster: Cluster, port: number): void {
  replaceFile(join(cluster.dataDir, 'database-url'), `${cluster.url('economy_service', port)}\n`)
  replaceFile(join(cluster.dataDir, 'database-owner-url'), `${cluster.url('economy_owner', port)}\n`)
  replaceFile(join(cluster.dataDir, 'pg_service.conf'), serviceFile(new URL(cluster.url('economy_service', port))))
}

/** For psql and other libpq clients: every user of the machine can read a command line. */
const serviceFile = ({ hostname, port, pathname, username, password }: URL): string =>
  `[economy]\nhost=${hostname}\nport=${port}\ndbname=${pathname.slice(1)}\nuser=${username}\npassword=${password}\n`

/** The port used last time, or null. */
function lastPort(dataDir: string): number | null {
  try {
    const port = Number(new URL(readFileSync(join(dataDir, 'database-url'), 'utf8').trim()).port)
    return port > 0 ? port : null
  } catch {
    // Missing or damaged: any port will do.
    return null
  }
}

/** A session of `economy_owner`. Creates roles and database first in a new or unfinished cluster. */
export async function connectOwner(cluster: Cluster, port: number): Promise<Client> {
  const url = cluster.url('economy_owner', port)
  try {
    return await connect(url, 'economy embedded')
  } catch (error) {
    if (!['28000', '28P01', '3D000'].includes(errorCode(error) ?? '')) throw error
    await provision(cluster, port)
    return connect(url, 'economy embedded')
  }
}
