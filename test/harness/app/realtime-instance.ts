import { pino } from 'pino'
import { build } from '../../../src/app.ts'
import { headOf, readIncarnation } from '../../../src/db/head.ts'
import { FailureLog } from '../../../src/db/log.ts'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { Promotion } from '../../../src/db/standby.ts'
import { evolve, tables } from '../../../src/domain.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { type AppState, alwaysOpen } from '../../../src/http/auth/gate.ts'
import { sessionsIn } from '../../../src/http/auth/sessions.ts'
import { asyncapi } from '../../../src/http/documents/asyncapi.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { PublicAddress } from '../../../src/http/origins.ts'
import { languageOf } from '../../../src/language/request-language.ts'
import { Executor } from '../../../src/ledger/executor/executor.ts'
import { AppliedEvents } from '../../../src/ledger/subscriptions/applied-events.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import type { ProfileLookups } from '../../../src/realtime/frames/frame-mapper.ts'
import type { ConnectionRegistry, ReturnTimes } from '../../../src/realtime/sockets/connection-registry.ts'
import type { FindRoomStates } from '../../../src/realtime/subscriptions/channel-access.ts'
import { type RealtimeIntervals, startRealtime } from '../../../src/startup/realtime.ts'
import { DocumentedFrames } from '../http/documented-frames.ts'
import { currentIncarnation } from '../ledger/given-when.ts'
import type { TestDatabase } from '../postgres/test-database.ts'
import type { Scope } from '../scope.ts'
import { type Frame, WebSocketClient, type WebSocketOptions } from '../websocket/websocket-client.ts'
import { appParts, consoleOptions } from './app-parts.ts'
import { token } from './minimal-app.ts'

export interface InstanceOptions {
  readonly times?: Partial<RealtimeIntervals>
  readonly allowedOrigins?: readonly string[]
  readonly lookups?: ProfileLookups
  readonly findRoomStates?: FindRoomStates
  readonly appState?: AppState
  readonly addressLimit?: AddressLimit
  readonly returnTimes?: ReturnTimes
  /** With staff's pages, as in development. */
  readonly hasConsole?: boolean
}

/** Open to all clients, in the language that they ask for. */
const openToAll: AppState = {
  ...alwaysOpen,
  hintsOf: (request) => ({ type: null, version: null, language: languageOf(request) }),
}

/** An instance of the service in this process that listens, with all of `realtime` and its own connections. */
export interface TestInstance {
  readonly origin: string
  readonly executor: Executor
  readonly metrics: Metrics
  /** Warnings and errors that were logged. */
  readonly log: readonly string[]
  /** As on SIGTERM. */
  stop(): Promise<void>
  readonly registry: ConnectionRegistry
}

export async function startInstance(
  t: Scope,
  { serviceUrl }: Pick<TestDatabase, 'serviceUrl'>,
  slices: readonly Slice[],
  options: InstanceOptions = {},
): Promise<TestInstance> {
  const { appState = openToAll } = options
  const lines: string[] = []
  // A busy machine may block the event loop; that is not the instance's fault.
  const write = (line: string): void => {
    if (!line.includes('"event loop blocked"')) lines.push(line)
  }
  const log = pino({ level: 'warn' }, { write })
  const cleanUp = new AsyncDisposableStack()
  const metrics = new Metrics()
  const pool = openPool(serviceUrl, { max: 6, application_name: 'instance' }, log)
  const subscriberPool = openPool(serviceUrl, { max: 4, application_name: 'subscribers' }, log)
  const db = queryBuilder(pool)
  cleanUp.defer(() => db.destroy())
  cleanUp.defer(() => subscriberPool.end())
  const tail = new Tail({
    url: serviceUrl,
    pool: subscriberPool,
    failureLog: new FailureLog(log, 'tail failing', 'tail recovered'),
    waitForInFlight: () => executor.waitForInFlight(),
  })
  cleanUp.defer(() => tail.stop())
  const observer = { ...metrics.observer(() => {}), bug: (err: unknown) => log.error({ err }, 'bug') }
  const executor = new Executor({
    url: serviceUrl,
    tables,
    evolve,
    observer: {
      ...observer,
      committed: (batch) => {
        applied.apply(batch.events)
        tail.publish(batch.events)
      },
    },
  })
  cleanUp.defer(() => executor.close())
  const applied = new AppliedEvents(await headOf(db), () => headOf(db), currentIncarnation(await readIncarnation(db)))
  const sessions = sessionsIn(db)
  sessions.follow(tail, applied.position)
  applied.follow(tail, () => {})
  tail.start()
  const createRegistry = await startRealtime(
    {
      database: { db, subscriberPool, promotion: new Promotion(false, async () => false) },
      tail,
      incarnation: applied.incarnation,
      sessions,
      appState,
      slices,
      lookups: options.lookups ?? noLookups,
      assetBaseUrl: () => 'http://assets.test',
      findRoomStates: options.findRoomStates ?? (async () => new Map()),
      metrics,
      log,
      ...(options.times !== undefined && { times: options.times }),
      ...(options.returnTimes !== undefined && { returnTimes: options.returnTimes }),
    },
    cleanUp,
  )
  const { allowedOrigins = [], addressLimit = new AddressLimit(null) } = options
  const address = new PublicAddress({ publicUrl: null, assetBaseUrl: null, allowedOrigins, port: 0 })
  const source = { executor, db, url: serviceUrl }
  const parts = appParts(source, { slices, sessions, addressLimit, log, metrics }, { applied, appState })
  let registry: ConnectionRegistry | undefined
  const app = await build({
    ...parts,
    realtime: {
      createRegistry: (verify) => (registry = createRegistry(verify)),
      isAllowedOrigin: address.isAllowedOrigin,
    },
    ...(options.hasConsole === true && {
      console: consoleOptions({ teardown: (work) => cleanUp.defer(work) }, source, parts, {
        production: false,
        isOwnOrigin: address.isOwnOrigin,
        signInCodes: null,
      }),
    }),
  })
  cleanUp.defer(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  address.setPort(Number(new URL(origin).port))
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= cleanUp.disposeAsync())
  t.teardown(stop)
  if (registry === undefined) throw new Error('the app has no sockets')
  return { origin, executor, metrics, registry, log: lines, stop }
}

export const noLookups: ProfileLookups = {
  users: async () => new Map(),
  rooms: async () => new Map(),
  decorations: async () => new Map(),
  packages: async () => new Map(),
}

export type { Frame }

const documentedFrames = new DocumentedFrames(asyncapi)

/** Throws when a frame differs from the AsyncAPI document. Events that only tests have are not in it. */
function requireDocumented(frame: Frame): void {
  if ('event' in frame && documentedFrames.messageOf(frame, 'server') === undefined) return
  // Heartbeats of tests are shorter than a second.
  const inSeconds = frame.t === 'ready' ? { ...frame, heartbeat: Math.ceil(Number(frame['heartbeat'])) } : frame
  const difference = documentedFrames.difference(inSeconds, 'server')
  if (difference !== null) throw new Error(difference)
}

/** A client that keeps its frames and compares each with the AsyncAPI document. */
export class TestClient extends WebSocketClient {
  constructor(origin: string, options: Omit<WebSocketOptions, 'keepsFrames' | 'check'>) {
    super(origin, { ...options, keepsFrames: true, check: requireDocumented })
  }
}

/** A client of user `id`, authenticated by its header. */
export async function connectAs(
  t: Scope,
  origin: string,
  id: number,
  claims: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const authorization = `Bearer ${token({ sub: String(id), ...claims })}`
  const client = new TestClient(origin, { headers: { authorization, ...headers } })
  t.teardown(() => client.close())
  await client.waitForFrame('ready')
  return client
}
