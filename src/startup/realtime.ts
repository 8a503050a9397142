import { Kysely, PostgresDialect } from 'kysely'
import type { Logger } from 'pino'
import { BatchedLookup } from '../db/batched-lookup.ts'
import { headOf } from '../db/head.ts'
import type { Tables } from '../db/tables.ts'
import { roomIdsOfMembers, type UserAndRoomUid } from '../features/rooms/reads.ts'
import type { Slice } from '../features/slice.ts'
import type { AppState } from '../http/auth/gate.ts'
import type { Sessions } from '../http/auth/sessions.ts'
import type { VerifyToken } from '../http/auth/tokens.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import { BacklogReader } from '../realtime/channels/backlog-reader.ts'
import { ChannelIndex, INDEX_CURSOR } from '../realtime/channels/channel-index.ts'
import { Hub } from '../realtime/channels/hub.ts'
import { ResumeBudget } from '../realtime/channels/resume-budget.ts'
import { createEventMapper } from '../realtime/frames/event-mapper.ts'
import { ProfileCache } from '../realtime/frames/profile-cache.ts'
import type { ProfileLookups } from '../realtime/frames/profiles.ts'
import { StatePusher, type StatePusherParts } from '../realtime/frames/state-pusher.ts'
import { authenticateWith } from '../realtime/sockets/authenticate.ts'
import { ConnectionRegistry } from '../realtime/sockets/connection-registry.ts'
import type { Database } from './database.ts'

/** Milliseconds. */
export interface RealtimeIntervals {
  /** Signs of life go out so often. */
  readonly heartbeat: number
  /** How long a client may take to say who it is. */
  readonly auth: number
  /** How often sockets are looked at. */
  readonly sweep: number
}

const DEFAULT_INTERVALS: RealtimeIntervals = { heartbeat: 25_000, auth: 10_000, sweep: 500 }
/** How often the kernel is asked what clients have not taken. */
const QUEUE_CHECK_INTERVAL_MS = 5_000
const PRUNE_INTERVAL_MS = 60_000
/** Memberships in one question. */
const MAX_MEMBERSHIPS_PER_QUERY = 500

interface RealtimeParts {
  readonly database: Pick<Database, 'db' | 'subscriberPool'>
  readonly tail: Pick<Tail, 'subscribe' | 'subscribeDurable'>
  readonly sessions: Sessions
  readonly appState: Pick<AppState, 'check' | 'onChange'>
  readonly slices: readonly Slice[]
  readonly lookups: ProfileLookups
  readonly metrics: Metrics
  readonly log: Logger
  readonly times?: RealtimeIntervals
}

/** Carries what the ledger tells to sockets, as soon as there is somebody to read tokens; stopped by `cleanUp`. */
export async function startRealtime(
  parts: RealtimeParts,
  cleanUp: AsyncDisposableStack,
): Promise<(read: VerifyToken) => ConnectionRegistry> {
  const { database, tail, sessions, appState, slices, metrics, log, times = DEFAULT_INTERVALS } = parts
  const { subscriberPool } = database
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: subscriberPool }) })
  const bug = (err: unknown, position: number): void => log.error({ err, position }, 'an event could not be announced')
  const trouble = (err: unknown): void => log.warn({ err }, 'a socket could not be served; trying again')

  const tell = createEventMapper(
    slices.flatMap(({ frameMapper = [] }) => frameMapper),
    bug,
  )
  const unreadable = (err: unknown): void => log.error({ err }, 'a name for a frame could not be looked up; left out')
  const words = new ProfileCache(db, parts.lookups, unreadable)
  const index = new ChannelIndex(subscriberPool)
  const history = new BacklogReader(subscriberPool, index, tell, words)
  const position = await headOf(db)
  const sent = (frames: number): void => metrics.sockets.sent(frames)
  const hub = new Hub(
    { mapEvent: tell, profiles: words, backlogs: history, head: () => headOf(db), onSent: sent },
    position,
  )

  return (read) => {
    const memberships = new BatchedLookup(MAX_MEMBERSHIPS_PER_QUERY, (pairs: readonly UserAndRoomUid[]) =>
      roomIdsOfMembers(database.db, pairs),
    )
    const resumes = new ResumeBudget()
    const lobby = new ConnectionRegistry({
      hub,
      resumes,
      authenticate: authenticateWith(read, sessions),
      memberRoom: (uid, userId) => memberships.load({ uid, userId }),
      judgeState: appState.check,
      authMs: times.auth,
      heartbeatMs: times.heartbeat,
      onError: trouble,
      onSocketClosed: (code) => metrics.sockets.closed(code),
    })
    metrics.sockets.watch(() => lobby.size)
    appState.onChange(() => lobby.recheckGate())
    sessions.onRevoked((userId, before) => lobby.revoke(userId, before))
    const sweeping = setInterval(() => {
      lobby.sweep()
      hub.trim()
    }, times.sweep)
    const checkingQueues = setInterval(() => {
      lobby.checkSendQueues().catch(trouble)
    }, QUEUE_CHECK_INTERVAL_MS)
    const pruning = setInterval(() => {
      index.prune().catch(trouble)
      resumes.sweep()
    }, PRUNE_INTERVAL_MS)
    cleanUp.defer(() => {
      clearInterval(sweeping)
      clearInterval(checkingQueues)
      clearInterval(pruning)
    })
    const shows: StatePusherParts = {
      db,
      hasConnections: () => lobby.size > 0,
      connectionsOf: (id) => lobby.connectionsOf(id),
      position: () => hub.position,
      onError: trouble,
    }
    const showers = slices.flatMap(({ liveQuery = [] }) => liveQuery).map((state) => new StatePusher(state, shows))
    cleanUp.defer(() => {
      for (const shower of showers) shower.stop()
    })
    tail.subscribe(position, async (events) => {
      await hub.onEvents(events)
      for (const shower of showers) shower.onEvents(events)
    })
    tail.subscribeDurable(INDEX_CURSOR, index.subscriber(tell))
    return lobby
  }
}
