import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { headOf } from '../db/head.ts'
import { FailureLog } from '../db/log.ts'
import { BatchedLookup, isSystemic, SOCKET_LIMITS } from '../db/queries/batched-lookup.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import { membershipsOf, type UserAndRoom } from '../features/rooms/reads.ts'
import type { Slice } from '../features/slice.ts'
import type { AppState } from '../http/auth/gate.ts'
import type { Sessions } from '../http/auth/sessions.ts'
import type { VerifyToken } from '../http/auth/tokens.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import type { CurrentIncarnation } from '../ledger/subscriptions/applied-events.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import { BacklogReader } from '../realtime/channels/backlog-reader.ts'
import { ChannelIndex, INDEX_CURSOR } from '../realtime/channels/channel-index.ts'
import { Hub } from '../realtime/channels/hub.ts'
import { ResumeBudget } from '../realtime/channels/resume-budget.ts'
import { createEventMapper, type ProfileLookups } from '../realtime/frames/frame-mapper.ts'
import { ProfileCache } from '../realtime/frames/profile-cache.ts'
import { StatePusher, type StatePusherParts } from '../realtime/frames/state-pusher.ts'
import { ConnectionRegistry, ReturnTimes } from '../realtime/sockets/connection-registry.ts'
import { authenticateWith } from '../realtime/sockets/socket-routes.ts'
import { type FindRoomStates, roomStateLookup } from '../realtime/subscriptions/channel-access.ts'
import { TimeSlice } from '../realtime/time-slice.ts'
import type { Database } from './database.ts'

/** Milliseconds. */
export interface RealtimeIntervals {
  /** Between two heartbeats. */
  readonly heartbeat: number
  /** How long a client may take to authenticate. */
  readonly auth: number
  /** Between two sweeps of the connections. */
  readonly sweep: number
}

const DEFAULT_INTERVALS: RealtimeIntervals = {
  heartbeat: 25_000,
  auth: 10_000,
  sweep: 500,
}
/** Between two readings of names that frames show; a new name shows after as long. */
const NAMES_INTERVAL_MS = 500
const FAILURES_INTERVAL_MS = 5_000
const PRUNE_INTERVAL_MS = 60_000
const MAX_MEMBERSHIPS_PER_QUERY = 500
/** How long returning and leaving clients are served in one turn of the event loop; requests wait for it. */
const SLICE_MS = 4

interface RealtimeParts {
  readonly database: Pick<Database, 'db' | 'subscriberPool' | 'promotion'>
  readonly tail: Pick<Tail, 'subscribe' | 'subscribeDurable'>
  readonly incarnation: CurrentIncarnation
  readonly sessions: Sessions
  readonly appState: Pick<AppState, 'check' | 'onChange'>
  readonly slices: readonly Slice[]
  readonly lookups: ProfileLookups
  /** What addresses of pictures begin with. */
  readonly assetBaseUrl: () => string
  readonly findRoomStates: FindRoomStates
  readonly metrics: Metrics
  readonly log: Logger
  readonly times?: Partial<RealtimeIntervals>
  readonly returnTimes?: ReturnTimes
}

/**
 * Creates the parts of `realtime`. Returns a function that starts to serve sockets, for when tokens can be verified.
 * Stopped by `cleanUp`.
 */
export async function startRealtime(
  parts: RealtimeParts,
  cleanUp: AsyncDisposableStack,
): Promise<(verifyToken: VerifyToken) => ConnectionRegistry> {
  const { database, tail, sessions, appState, slices, metrics, log } = parts
  const times = { ...DEFAULT_INTERVALS, ...parts.times }
  const { subscriberPool } = database
  const db = queryBuilder(subscriberPool)
  const onMapperError = (err: unknown, position: number): void =>
    log.error({ err, position }, 'frame could not be built; left out')
  const socketFailures = new FailureLog(log, 'sockets not served; clients may retry', 'sockets are served again')
  // A bug gets a line of its own, so that an outage does not hide it.
  const onError = (err: unknown): void => {
    if (isSystemic(err)) socketFailures.failed(err, socketFailures)
    else log.error({ err }, 'unexpected error while serving sockets')
  }

  const mapEvent = createEventMapper(
    slices.flatMap(({ frameMapper = [] }) => frameMapper),
    onMapperError,
  )
  const onLookupError = (err: unknown): void => log.error({ err }, 'name for a frame could not be looked up; left out')
  const profiles = new ProfileCache(db, parts.lookups, onLookupError)
  const index = new ChannelIndex(subscriberPool, mapEvent)
  const timeSlice = new TimeSlice(SLICE_MS)
  const backlogs = new BacklogReader(subscriberPool, index, mapEvent, profiles, timeSlice)
  const position = await headOf(db)
  const onSent = (frames: number): void => metrics.sockets.sent(frames)
  const onFlushed = (seconds: number): void => metrics.sockets.flushed(seconds)
  let registry: ConnectionRegistry | undefined
  const onMemberLeft = (roomId: number, userId: number, at: number): void => registry?.leaveRoom(roomId, userId, at)
  const hub = new Hub(
    { mapEvent, profiles, backlogs, head: () => headOf(db), onMemberLeft, onSent, onFlushed },
    position,
  )

  return (verifyToken) => {
    const memberships = new BatchedLookup(
      MAX_MEMBERSHIPS_PER_QUERY,
      (requested: readonly UserAndRoom[]) => membershipsOf(database.db, requested),
      SOCKET_LIMITS,
    )
    const roomStates = roomStateLookup(database.db, parts.findRoomStates)
    const resumes = new ResumeBudget()
    const connections = new ConnectionRegistry({
      hub,
      incarnation: parts.incarnation,
      timeSlice,
      resumes,
      authenticate: authenticateWith(verifyToken, sessions),
      memberRoom: async (room, userId) => {
        const found = await memberships.load({ room, userId })
        return found?.is_member === true ? { roomId: found.room_id, position: found.position } : null
      },
      roomState: (roomId) => roomStates.load(roomId),
      checkAppState: appState.check,
      returnTimes: parts.returnTimes ?? new ReturnTimes(availableParallelism()),
      authMs: times.auth,
      heartbeatMs: times.heartbeat,
      onError,
      onSocketClosed: (code) => metrics.sockets.closed(code),
    })
    metrics.sockets.watch({
      sockets: () => connections.sockets,
      unsentBytes: () => connections.unsentBytes,
      resumes: () => resumes.counts,
    })
    appState.onChange(() => connections.recheckGate())
    sessions.onRevoked((userId, before) => connections.revoke(userId, before))
    const sweeping = setInterval(() => {
      connections.sweep()
      hub.trim()
    }, times.sweep)
    const expiringFailures = setInterval(() => socketFailures.expire(FAILURES_INTERVAL_MS), FAILURES_INTERVAL_MS)
    const refreshingNames = setInterval(() => void profiles.refresh().catch(onError), NAMES_INTERVAL_MS)
    const pruning = setInterval(() => {
      if (!database.promotion.isStandby) index.prune().catch(onError)
      resumes.sweep()
    }, PRUNE_INTERVAL_MS)
    cleanUp.defer(() => {
      clearInterval(sweeping)
      clearInterval(expiringFailures)
      clearInterval(refreshingNames)
      clearInterval(pruning)
    })
    const pusherParts: StatePusherParts = {
      db,
      assetBaseUrl: parts.assetBaseUrl,
      hasConnections: () => connections.size > 0,
      connectionsOf: (id) => connections.connectionsOf(id),
      position: () => hub.position,
      onError,
    }
    const statePushers = slices
      .flatMap(({ liveQuery = [] }) => liveQuery)
      .map((query) => new StatePusher(query, pusherParts))
    cleanUp.defer(() => {
      for (const statePusher of statePushers) statePusher.stop()
    })
    tail.subscribe(position, async (events) => {
      profiles.dropErased(events)
      await hub.onEvents(events)
      for (const statePusher of statePushers) statePusher.onEvents(events)
    })
    tail.subscribeDurable(INDEX_CURSOR, index.subscriber())
    registry = connections
    return connections
  }
}
