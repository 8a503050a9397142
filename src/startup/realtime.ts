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
import { History } from '../realtime/channels/backlog.ts'
import { ChannelIndex, INDEX_FOLLOWER } from '../realtime/channels/channel-index.ts'
import { Hub } from '../realtime/channels/hub.ts'
import { ResumeBudget } from '../realtime/channels/resume-budget.ts'
import type { Lookups } from '../realtime/frames/announcer.ts'
import { tellWith } from '../realtime/frames/event-mapper.ts'
import { WordBook } from '../realtime/frames/lookup-cache.ts'
import { Shower, type ShowerParts } from '../realtime/frames/state-pusher.ts'
import { admitWith } from '../realtime/sockets/authenticate.ts'
import { Lobby } from '../realtime/sockets/connection-registry.ts'
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
  readonly lookups: Lookups
  readonly metrics: Metrics
  readonly log: Logger
  readonly times?: LiveTimes
}

/** Carries what the ledger tells to sockets, as soon as there is somebody to read tokens; stopped by `cleanUp`. */
export async function startLive(parts: LiveParts, cleanUp: AsyncDisposableStack): Promise<(read: ReadToken) => Lobby> {
  const { database, tail, sessions, appState, slices, metrics, log, times = usual } = parts
  const { followers } = database
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: followers }) })
  const bug = (err: unknown, position: number): void => log.error({ err, position }, 'an event could not be announced')
  const trouble = (err: unknown): void => log.warn({ err }, 'a socket could not be served; trying again')

  const tell = tellWith(
    slices.flatMap(({ announcer = [] }) => announcer),
    bug,
  )
  const unreadable = (err: unknown): void => log.error({ err }, 'a name for a frame could not be looked up; left out')
  const words = new WordBook(db, parts.lookups, unreadable)
  const index = new ChannelIndex(followers)
  const history = new History(followers, index, tell, words)
  const position = await headOf(db)
  const sent = (frames: number): void => metrics.sockets.sent(frames)
  const hub = new Hub({ tell, words, history, head: () => headOf(db), sent }, position)

  return (read) => {
    const memberships = new BatchedLookup(MOST_PAIRS, (pairs: readonly UserAndRoomUid[]) =>
      roomIdsOfMembers(database.db, pairs),
    )
    const resumes = new ResumeBudget()
    const lobby = new Lobby({
      hub,
      resumes,
      admit: admitWith(read, sessions),
      memberRoom: (uid, userId) => memberships.load({ uid, userId }),
      judge: appState.judge,
      authMs: times.auth,
      heartbeatMs: times.heartbeat,
      failed: trouble,
      closed: (code) => metrics.sockets.closed(code),
    })
    metrics.sockets.watch(() => lobby.size)
    appState.onChange(() => lobby.judge())
    sessions.onRevoked((userId, before) => lobby.revoke(userId, before))
    const looking = setInterval(() => {
      lobby.look()
      hub.trim()
    }, times.look)
    const lookingAtQueues = setInterval(() => {
      lobby.lookAtQueues().catch(trouble)
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
    const shows: ShowerParts = {
      db,
      anyone: () => lobby.size > 0,
      viewers: (id) => lobby.of(id),
      position: () => hub.position,
      trouble,
    }
    const showers = slices.flatMap(({ shown = [] }) => shown).map((state) => new Shower(state, shows))
    cleanUp.defer(() => {
      for (const shower of showers) shower.stop()
    })
    tail.subscribe(position, async (events) => {
      await hub.follow(events)
      for (const shower of showers) shower.hear(events)
    })
    tail.subscribeDurable(INDEX_FOLLOWER, index.follower(tell))
    return lobby
  }
}
