import { Kysely, PostgresDialect } from 'kysely'
import type { Logger } from 'pino'
import { BatchedLookup } from '../db/batched-lookup.ts'
import { headOf } from '../db/head.ts'
import type { Tables } from '../db/tables.ts'
import { roomIdsOfMembers, type UserAndRoomUid } from '../features/rooms/reads.ts'
import type { Slice } from '../features/slice.ts'
import type { AppState } from '../http/auth/gate.ts'
import type { Sessions } from '../http/auth/sessions.ts'
import type { ReadToken } from '../http/auth/tokens.ts'
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
export interface LiveTimes {
  /** Signs of life go out so often. */
  readonly heartbeat: number
  /** How long a client may take to say who it is. */
  readonly auth: number
  /** How often sockets are looked at. */
  readonly look: number
}

const usual: LiveTimes = { heartbeat: 25_000, auth: 10_000, look: 500 }
/** How often the kernel is asked what clients have not taken. */
const QUEUES_MS = 5_000
const PRUNE_MS = 60_000
/** Memberships in one question. */
const MOST_PAIRS = 500

interface LiveParts {
  readonly database: Pick<Database, 'db' | 'followers'>
  readonly tail: Pick<Tail, 'subscribe' | 'subscribeDurable'>
  readonly sessions: Sessions
  readonly appState: Pick<AppState, 'judge' | 'onChange'>
  readonly slices: readonly Slice[]
  readonly lookups: ProfileLookups
  readonly metrics: Metrics
  readonly log: Logger
  readonly times?: LiveTimes
}

/** Carries what the ledger tells to sockets, as soon as there is somebody to read tokens; stopped by `cleanUp`. */
export async function startLive(
  parts: LiveParts,
  cleanUp: AsyncDisposableStack,
): Promise<(read: ReadToken) => ConnectionRegistry> {
  const { database, tail, sessions, appState, slices, metrics, log, times = usual } = parts
  const { followers } = database
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: followers }) })
  const bug = (err: unknown, position: number): void => log.error({ err, position }, 'an event could not be announced')
  const trouble = (err: unknown): void => log.warn({ err }, 'a socket could not be served; trying again')

  const tell = createEventMapper(
    slices.flatMap(({ frameMapper = [] }) => frameMapper),
    bug,
  )
  const unreadable = (err: unknown): void => log.error({ err }, 'a name for a frame could not be looked up; left out')
  const words = new ProfileCache(db, parts.lookups, unreadable)
  const index = new ChannelIndex(followers)
  const history = new BacklogReader(followers, index, tell, words)
  const position = await headOf(db)
  const sent = (frames: number): void => metrics.sockets.sent(frames)
  const hub = new Hub(
    { mapEvent: tell, profiles: words, backlogs: history, head: () => headOf(db), onSent: sent },
    position,
  )

  return (read) => {
    const memberships = new BatchedLookup(MOST_PAIRS, (pairs: readonly UserAndRoomUid[]) =>
      roomIdsOfMembers(database.db, pairs),
    )
    const resumes = new ResumeBudget()
    const lobby = new ConnectionRegistry({
      hub,
      resumes,
      authenticate: authenticateWith(read, sessions),
      memberRoom: (uid, userId) => memberships.load({ uid, userId }),
      judgeState: appState.judge,
      authMs: times.auth,
      heartbeatMs: times.heartbeat,
      onError: trouble,
      onSocketClosed: (code) => metrics.sockets.closed(code),
    })
    metrics.sockets.watch(() => lobby.size)
    appState.onChange(() => lobby.recheckGate())
    sessions.onRevoked((userId, before) => lobby.revoke(userId, before))
    const looking = setInterval(() => {
      lobby.sweep()
      hub.trim()
    }, times.look)
    const lookingAtQueues = setInterval(() => {
      lobby.checkSendQueues().catch(trouble)
    }, QUEUES_MS)
    const pruning = setInterval(() => {
      index.prune().catch(trouble)
      resumes.sweep()
    }, PRUNE_MS)
    cleanUp.defer(() => {
      clearInterval(looking)
      clearInterval(lookingAtQueues)
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
