import { type CustomTypesConfig, Pool, type PoolClient, types } from 'pg'
import { loopTimeout } from './async.ts'
import { prepareSession } from './connect.ts'
import type { Log } from './log.ts'
import { isConnectTimeout } from './postgres-errors.ts'

/** By the object ids of PostgreSQL's types. pg asks for nothing but text format here. */
const parsers = new Map<number, (text: string) => unknown>([
  [20, safeInteger], // int8
  [1082, String], // date
  [1114, String], // timestamp
  [1184, String], // timestamptz
  [1016, (text) => elements(text).map((element) => (element === null ? null : safeInteger(element)))], // int8[]
  [1182, elements], // date[]
  [1115, elements], // timestamp[]
  [1185, elements], // timestamptz[]
])

export interface PoolOptions {
  readonly max: number
  readonly min?: number
  readonly application_name: string
  /** SQL statements that each connection begins with. */
  readonly settings?: string
}

const CONNECT_TIMEOUT_MS = 3_000

type OnConnection = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (broken?: Error | boolean) => void,
) => void

/**
 * pg's pool counts the time for which the event loop was blocked, and gives up connections whose server has answered
 * meanwhile. This one then tries again.
 */
export class PatientPool extends Pool {
  override connect(): Promise<PoolClient>
  override connect(receive: OnConnection): void
  override connect(receive?: OnConnection): Promise<PoolClient> | undefined {
    const connecting = this.#connect()
    if (receive === undefined) return connecting
    void connecting.then(
      (client) => receive(undefined, client, (broken) => client.release(broken)),
      (error: Error) => receive(error, undefined, () => {}),
    )
    return undefined
  }

  async #connect(): Promise<PoolClient> {
    for (;;) {
      let hasTurned = false
      const cancel = loopTimeout(() => {
        hasTurned = true
      }, CONNECT_TIMEOUT_MS / 2)
      try {
        return await super.connect()
      } catch (error) {
        if (hasTurned || !isConnectTimeout(error)) throw error
      } finally {
        cancel()
      }
    }
  }
}

/**
 * For reads by key. A plan is kept for lists of any length, and with hash joins it would read whole tables for one user.
 */
export const keyedReadSettings = 'set enable_hashjoin = off; set enable_mergejoin = off'

/**
 * Connections for the service. Unlike with pg's defaults, int8 comes as a number (and is refused beyond 2^53-1
 * rather than rounded), dates and times come as PostgreSQL writes them, in UTC. numeric stays a string.
 */
export function openPool(url: string, { settings = '', ...options }: PoolOptions, log: Log = console): Pool {
  const pool = new PatientPool({
    ...options,
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // For a server that stops responding: in this mode pg discards the connection, which would otherwise be used again
    // and hang.
    query_timeout: 11_000,
    pipeline: true,
    types: resultTypes,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) => prepareSession(client, url, `set statement_timeout = '10s'; ${settings}`),
  })
  // Idle connections break when the server goes away. The pool replaces them; without a listener the error would end the
  // process. The end of a pool does not wait for its connections, which may break when the server stops next.
  pool.on('error', (err) => {
    if (!pool.ending) log.warn({ err }, 'idle database connection broke; the pool opens another one')
  })
  // One that breaks in use fails its query; without a listener this too would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Where connections come from: a pool, or one that limits who may wait. */
export interface ConnectionSource {
  readonly options: object
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/** Callers that may wait for a connection: with more, the last ones would wait longer than the connection timeout. */
const MAX_WAITING = 1_000

/** More reads wait than can be served in time. The database was not asked, and a later retry may succeed. */
export class PoolExhausted extends Error {
  override readonly name = 'PoolExhausted'
}

/**
 * A pool for reads. A caller that comes when too many wait, or that waited too long while others were served, is
 * rejected with `PoolExhausted`.
 */
export function readPool(pool: Pool): ConnectionSource {
  let inUse = 0
  pool.on('acquire', () => void (inUse += 1))
  pool.on('release', () => void (inUse -= 1))
  return {
    options: pool.options,
    connect: async () => {
      if (pool.waitingCount >= MAX_WAITING) throw new PoolExhausted('too many wait for a connection')
      try {
        return await pool.connect()
      } catch (error) {
        // With no connection in use, the database itself cannot be reached.
        if (inUse === 0 || !isConnectTimeout(error)) throw error
        throw new PoolExhausted('no connection was free in time', { cause: error })
      }
    },
    end: () => pool.end(),
  }
}

const resultTypes: CustomTypesConfig = {
  getTypeParser: (id, format) => parsers.get(id) ?? types.getTypeParser(id, format),
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} is beyond 2^53-1; select it as text or numeric`)
  return value
}

/** For arrays of one dimension whose elements contain neither commas nor quotation marks. */
function elements(text: string): (string | null)[] {
  if (text === '{}') return []
  return text
    .slice(1, -1)
    .split(',')
    .map((element) => (element === 'NULL' ? null : element.replaceAll('"', '')))
}
