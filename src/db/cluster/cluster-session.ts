import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { errorCode } from '../../config/error-code.ts'
import { replaceFile } from '../../config/files.ts'
import { connect } from '../connect.ts'
import type { Log } from '../log.ts'
import { provision } from '../roles.ts'
import { type Cluster, StartError } from './cluster.ts'
import type { Postmaster } from './postmaster.ts'

/** A running cluster and a session of the role `economy_owner`. */
interface ClusterSession {
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

/** How long a PostgreSQL that is alive may answer nobody. */
const MAX_SILENCE_MS = 60_000

/**
 * Ends a PostgreSQL that is alive and has answered nobody for a minute, so that it can be started again. One that
 * recovers says so, and is waited for.
 */
export class Silence {
  readonly #cluster: Pick<Cluster, 'running' | 'kill' | 'log'>
  readonly #log: Log
  readonly #now: () => number
  #since: number | undefined

  constructor(cluster: Pick<Cluster, 'running' | 'kill' | 'log'>, log: Log, now = () => performance.now()) {
    this.#cluster = cluster
    this.#log = log
    this.#now = now
  }

  answered(): void {
    this.#since = undefined
  }

  /** After an attempt to connect has failed. */
  failed(err: unknown): void {
    const running = this.#cluster.running()
    if (running === null || isAnswer(err)) {
      this.#since = undefined
      return
    }
    this.#since ??= this.#now()
    if (this.#now() - this.#since < MAX_SILENCE_MS) return
    this.#since = undefined
    const { pid } = running
    const { log } = this.#cluster
    this.#log.warn(
      { pid, log, err },
      'embedded PostgreSQL has answered nobody for a minute; ending it to start it again',
    )
    this.#cluster.kill()
  }
}

/** Whether PostgreSQL itself says what is wrong. That it is shutting down says nothing: a hanging shutdown is silent. */
const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseError && !(error.code === '57P03' && error.message.includes('shutting down'))

/**
 * Below the ports that the kernel gives to outgoing connections (from 32768): there a client that reconnects while
 * PostgreSQL is down could be given PostgreSQL's own port, and keep it from coming back.
 */
const MIN_PORT = 15_432
const MAX_PORT = 32_767

/** A free port of 127.0.0.1: the preferred one if possible. */
export async function freePort(preferred: number | null = null): Promise<number> {
  if (preferred !== null && (await isFree(preferred))) return preferred
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port was found between ${MIN_PORT} and ${MAX_PORT}`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
