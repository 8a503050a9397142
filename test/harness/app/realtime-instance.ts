import { Kysely, PostgresDialect } from 'kysely'
import { pino } from 'pino'
import { WebSocket } from 'ws'
import { build } from '../../../src/app.ts'
import { FailureLog } from '../../../src/db/failure-log.ts'
import { headOf } from '../../../src/db/head.ts'
import { openPool } from '../../../src/db/pool.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { evolve, meaningOf, tables } from '../../../src/domain.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { type AppState, alwaysOpen } from '../../../src/http/auth/gate.ts'
import { PublicAddress } from '../../../src/http/auth/public-address.ts'
import { sessionsIn, staffSessionsIn } from '../../../src/http/auth/sessions.ts'
import { NO_RULES } from '../../../src/http/auth/tokens.ts'
import { executeWith } from '../../../src/http/execute-command.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { Executor } from '../../../src/ledger/executor/executor.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import type { ProfileLookups } from '../../../src/realtime/frames/profiles.ts'
import { type RealtimeIntervals, startRealtime } from '../../../src/startup/realtime.ts'
import { testChains, testSpins, testVault } from '../ledger/test-executor.ts'
import type { TestDatabase } from '../postgres/test-database.ts'
import { DEADLINE_MS } from '../until.ts'
import { SECRET, token } from './minimal-app.ts'

interface Test {
  teardown(work: () => Promise<void>): void
}

export interface InstanceOptions {
  readonly times?: RealtimeIntervals
  readonly allowedOrigins?: readonly string[]
  readonly lookups?: ProfileLookups
  readonly appState?: AppState
  readonly addressLimit?: AddressLimit
}

/** An instance of the service in this process, listening, with all of `live` and its own connections. */
export interface TestInstance {
  readonly origin: string
  readonly executor: Executor
  readonly metrics: Metrics
  /** What went wrong, for the log. */
  readonly log: readonly string[]
  /** As on SIGTERM. */
  stop(): Promise<void>
}

export async function startInstance(
  t: Test,
  { serviceUrl }: Pick<TestDatabase, 'serviceUrl'>,
  slices: readonly Slice[],
  options: InstanceOptions = {},
): Promise<TestInstance> {
  const { appState = alwaysOpen } = options
  const lines: string[] = []
  // That the machine is busy is no fault of the instance.
  const write = (line: string): void => {
    if (!line.includes('"event loop blocked"')) lines.push(line)
  }
  const log = pino({ level: 'warn' }, { write })
  const cleanUp = new AsyncDisposableStack()
  const metrics = new Metrics()
  const pool = openPool(serviceUrl, { max: 6, application_name: 'instance' }, log)
  const followers = openPool(serviceUrl, { max: 4, application_name: 'followers' }, log)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  cleanUp.defer(() => db.destroy())
  cleanUp.defer(() => followers.end())
  const tail = new Tail({
    url: serviceUrl,
    pool: followers,
    failureLog: new FailureLog(log, 'the tail fails', 'the tail goes on'),
    waitForInFlight: () => executor.waitForInFlight(),
  })
  cleanUp.defer(() => tail.stop())
  const observer = { ...metrics.observer(() => {}), bug: (err: unknown) => log.error({ err }, 'bug') }
  const executor = new Executor({
    url: serviceUrl,
    tables,
    evolve,
    observer: { ...observer, committed: (batch) => tail.publish(batch.events) },
  })
  cleanUp.defer(() => executor.close())
  const sessions = sessionsIn(db)
  sessions.follow(tail, await headOf(db))
  tail.start()
  const lobbyWith = await startRealtime(
    {
      database: { db, subscriberPool: followers },
      tail,
      sessions,
      appState,
      slices,
      lookups: options.lookups ?? noLookups,
      metrics,
      log,
      ...(options.times !== undefined && { times: options.times }),
    },
    cleanUp,
  )
  const { allowedOrigins = [] } = options
  const address = new PublicAddress({ publicUrl: null, assetBaseUrl: null, allowedOrigins, port: 0 })
  const writes = new WriteAllowance(null)
  const app = await build({
    slices,
    services: {
      execute: executeWith(executor, writes, meaningOf),
      db,
      settings: { ownerCommissionPercent: 0, rouletteFeePercent: 0, assetBaseUrl: 'http://assets.test' },
      appState,
      vault: testVault,
      sessions,
      staffSessions: staffSessionsIn(db),
      chains: testChains,
      spins: testSpins,
    },
    sessions,
    jwt: { kind: 'secret', secret: SECRET },
    rateLimit: null,
    addressLimit: options.addressLimit ?? new AddressLimit(null),
    trustProxy: [],
    tokenRules: NO_RULES,
    writes,
    metricsToken: null,
    log,
    metrics,
    isReady: async () => true,
    docs: true,
    realtime: { lobbyWith, isAllowedOrigin: address.isAllowedOrigin },
  })
  cleanUp.defer(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  address.setPort(Number(new URL(origin).port))
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= cleanUp.disposeAsync())
  t.teardown(stop)
  return { origin, executor, metrics, log: lines, stop }
}

export const noLookups: ProfileLookups = {
  users: async () => new Map(),
  rooms: async () => new Map(),
  decorations: async () => new Map(),
  packages: async () => new Map(),
}

/** A frame as it came. */
export interface Frame {
  readonly t: string
  readonly [field: string]: unknown
}

/** A client with everything it heard. */
export class TestClient {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  /** The close code, once there is one. */
  code: number | undefined
  /** The status of a refused upgrade and its body. */
  rejection: { readonly status: number; readonly body: string } | undefined
  readonly #watchers = new Set<() => void>()

  constructor(
    origin: string,
    options: { path?: string; headers?: Readonly<Record<string, string>>; noPong?: boolean; localAddress?: string },
  ) {
    const { path = '/ws', headers = {}, noPong = false, localAddress } = options
    this.ws = new WebSocket(`${origin.replace('http', 'ws')}${path}`, {
      headers,
      autoPong: !noPong,
      ...(localAddress !== undefined && { localAddress }),
    })
    this.ws.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()))
      this.#wake()
    })
    this.ws.on('close', (code) => {
      this.code ??= code
      this.#wake()
    })
    this.ws.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => {
        this.rejection = { status: response.statusCode ?? 0, body }
        this.#wake()
        this.ws.terminate()
      })
    })
    this.ws.on('error', () => {})
  }

  #wake(): void {
    for (const look of this.#watchers) look()
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** Waits until something is there; undefined answers are not. Throws when that takes too long. */
  async waitFor<T>(find: (client: this) => T | undefined, what = 'a frame'): Promise<T> {
    const found = find(this)
    if (found !== undefined) return found
    return new Promise<T>((resolve, reject) => {
      const late = setTimeout(() => {
        this.#watchers.delete(look)
        reject(new Error(`no ${what}; code ${this.code}, heard ${JSON.stringify(this.frames.slice(-5))}`))
      }, DEADLINE_MS)
      // Somebody may no longer care for it.
      late.unref()
      const look = (): void => {
        const value = find(this)
        if (value === undefined) return
        clearTimeout(late)
        this.#watchers.delete(look)
        resolve(value)
      }
      this.#watchers.add(look)
    })
  }

  /** The first frame of a type; with `i` the one that carries it. */
  waitForFrame(type: string, i?: number): Promise<Frame> {
    return this.waitFor(({ frames }) => frames.find((f) => f.t === type && (i === undefined || f['i'] === i)), type)
  }

  /** The frames of a channel's history. */
  eventsOf(channel: string): Frame[] {
    return this.frames.filter(({ t, ch, prev }) => t === 'ev' && ch === channel && prev !== undefined)
  }

  waitForClose(): Promise<number> {
    return this.waitFor(({ code }) => code, 'close')
  }

  async close(): Promise<void> {
    if (this.ws.readyState === WebSocket.CLOSED) return
    const gone = new Promise<void>((resolve) => this.ws.once('close', () => resolve()))
    this.ws.terminate()
    await gone
  }
}

/** A client of user `id`, let in by its header. */
export async function connectAs(t: Test, origin: string, id: number, claims: Readonly<Record<string, unknown>> = {}) {
  const headers = { authorization: `Bearer ${token({ sub: String(id), ...claims })}` }
  const client = new TestClient(origin, { headers })
  t.teardown(() => client.close())
  await client.waitForFrame('ready')
  return client
}
