import { MAX_CHANNELS_PER_FRAME } from '../../../schema/frames.ts'
import { BatchedLookup, DEFERRED, SOCKET_LIMITS } from '../../db/queries/batched-lookup.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ChannelKey, EventMapper, FrameTemplate, Profiles, RequiredIds } from '../frames/frame-mapper.ts'
import type { ProfileCache } from '../frames/profile-cache.ts'
import type { Backlog, BacklogReader } from './backlog-reader.ts'
import { Channel } from './channel.ts'
import { channelMessage } from './channel-message.ts'
import { type FanOut, type FanOutMember, FlushScheduler } from './fan-out.ts'
import { RecentMessages } from './recent-messages.ts'
import type { Reservation } from './resume-budget.ts'

/** Characters of backlog in memory, of all channels together. */
const MAX_BACKLOG_CHARACTERS = 64 * 1024 * 1024
/** Channels whose last positions are read together. */
const MAX_LAST_POSITIONS_PER_READ = 200
/** Clients that share one read of the ledger's head. */
const MAX_HEADS_PER_READ = 1_000
/** How long, and for how many channels at most, a backlog is kept after the last listener has left. */
const BACKLOG_RETENTION_MS = 10_000
const MAX_RETAINED_CHANNELS = 1_000

export interface HubParts {
  readonly mapEvent: EventMapper
  readonly profiles: Pick<ProfileCache, 'get'>
  readonly backlogs: Pick<BacklogReader, 'lastBefore' | 'read'>
  /** The ledger's head. */
  readonly head: () => Promise<number>
  /** Called when the messages before this position are delivered, and none after it. */
  readonly onMemberLeft: (roomId: number, userId: number, position: number) => void
  /** Counts frames, once for each listener that got them. */
  readonly onSent: (frames: number) => void
  /** Called after each round of a channel's frames to its listeners. */
  readonly onFlushed: (seconds: number) => void
}

interface MissingData {
  /** Channels whose last position is not known. */
  readonly channels: readonly ChannelKey[]
  readonly requiredIds: readonly RequiredIds[]
}

const NO_PROFILES: Profiles = { users: new Map(), rooms: new Map(), decorations: new Map(), packages: new Map() }

interface ChannelFrames {
  readonly event: PositionedEvent
  readonly channel: ChannelKey
  readonly templates: readonly FrameTemplate[]
}

/**
 * Sends the frames of ledger events to the listeners on this instance: in ledger order, once, whichever instance
 * committed them. Data is loaded first; the events are then delivered synchronously, so that no listener is added
 * or removed in between.
 */
export class Hub {
  readonly #parts: HubParts
  readonly #channels = new Map<ChannelKey, Channel>()
  /** Channels without listeners, by when the last one left; longest ago first. */
  readonly #retained = new Map<Channel, number>()
  readonly #flushScheduler: FlushScheduler
  readonly #headLookup: BatchedLookup<null, number>
  readonly #lastPositionLookup: BatchedLookup<ChannelKey, ChannelKey>
  readonly #backlogLookup: BatchedLookup<ChannelKey, Backlog & { readonly upTo: number }>
  /** Resumes that wait until the hub reaches a position. */
  readonly #waiters = new Set<{ readonly position: number; readonly resolve: () => void }>()
  readonly #recent: RecentMessages
  #position: number

  /** `position` is where to start. */
  constructor(parts: HubParts, position: number) {
    this.#parts = parts
    this.#position = position
    this.#recent = new RecentMessages(position)
    this.#flushScheduler = new FlushScheduler(parts.onSent, parts.onFlushed)
    const readBacklogs = async (channels: readonly ChannelKey[]) => {
      const upTo = this.#position
      const backlogs = await parts.backlogs.read([...new Set(channels)], upTo, this.#recent)
      return channels.map((channel) => {
        const backlog = backlogs.get(channel)
        return backlog === undefined ? DEFERRED : { ...backlog, upTo }
      })
    }
    const readHead = async (asked: readonly null[]) => {
      const head = await parts.head()
      return asked.map(() => head)
    }
    const readLastPositions = async (channels: readonly ChannelKey[]) => {
      await this.#loadLastPositions([...new Set(channels)])
      return channels
    }
    this.#lastPositionLookup = new BatchedLookup(MAX_LAST_POSITIONS_PER_READ, readLastPositions, SOCKET_LIMITS)
    this.#headLookup = new BatchedLookup(MAX_HEADS_PER_READ, readHead, SOCKET_LIMITS)
    this.#backlogLookup = new BatchedLookup(MAX_CHANNELS_PER_FRAME, readBacklogs, SOCKET_LIMITS)
  }

  /** The position of the newest event delivered. */
  get position(): number {
    return this.#position
  }

  /** For each channel with listeners, how many they are. */
  *listenerCounts(): Iterable<readonly [ChannelKey, number]> {
    for (const [key, { fanOut }] of this.#channels) if (fanOut.size > 0) yield [key, fanOut.size]
  }

  /** Delivers committed events; called by the ledger's tail. */
  readonly onEvents = async (delivered: readonly PositionedEvent[]): Promise<void> => {
    const events = delivered.filter(({ position }) => position > this.#position)
    const framesOf = new Map(events.map((event) => [event, [...this.#parts.mapEvent(event)]]))
    const frames = [...framesOf].flatMap(([event, byChannel]) =>
      byChannel.map(([channel, templates]): ChannelFrames => ({ event, channel, templates })),
    )
    let profiles = NO_PROFILES
    const loaded = new Set<ChannelKey>()
    // Until nothing is missing: new channels may come up while data is loaded.
    for (;;) {
      const missing = this.#missingData(frames, loaded)
      if (missing === null) break
      const [found] = await Promise.all([
        this.#parts.profiles.get(missing.requiredIds),
        this.#loadLastPositions(missing.channels),
      ])
      profiles = found
    }
    const changed = new Set<FanOut>()
    for (const [event, byChannel] of framesOf) {
      const { position, at } = event
      if (byChannel.length > 0) this.#recent.add({ position, channels: byChannel.map(([key]) => key) })
      for (const [key, templates] of byChannel) {
        const channel = this.#channels.get(key)
        if (channel === undefined) continue
        channel.append(
          channelMessage({ position, prev: channel.lastPosition ?? null, at: at / 1000 }, templates, profiles),
        )
        changed.add(channel.fanOut)
      }
      if (event.type === 'room-left') this.#parts.onMemberLeft(event.data.room_id, event.data.user_id, position)
    }
    this.#position = events.at(-1)?.position ?? this.#position
    this.#flushScheduler.schedule(changed)
    for (const waiter of this.#waiters) {
      if (waiter.position > this.#position) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** What has to be loaded before these frames can be delivered, besides what is `loaded`; null when nothing has to be. */
  #missingData(frames: readonly ChannelFrames[], loaded: Set<ChannelKey>): MissingData | null {
    const needed = frames.filter(({ channel }) => this.#channels.has(channel))
    const channels = new Set(needed.map(({ channel }) => channel))
    const unknown = [...channels].filter((channel) => this.#channels.get(channel)?.lastPosition === undefined)
    if (unknown.length === 0 && [...channels].every((channel) => loaded.has(channel))) return null
    for (const channel of channels) loaded.add(channel)
    const requiredIds = needed.flatMap(({ templates }) => templates.map((template) => template.requiredIds))
    return { channels: unknown, requiredIds }
  }

  async #loadLastPositions(channels: readonly ChannelKey[]): Promise<void> {
    if (channels.length === 0) return
    // One of that key that is opened meanwhile may have begun after later messages.
    const opened = channels.map((key) => this.#channels.get(key))
    const lastPositions = await this.#parts.backlogs.lastBefore(channels, this.#position + 1, this.#recent)
    for (const channel of opened) if (channel !== undefined) channel.lastPosition ??= lastPositions.get(channel.key)
  }

  /**
   * Frees memory: backlogs without listeners after a while, and beyond the limit those first whose channels have been
   * without listeners, or open, for longest.
   */
  trim(): void {
    const retainedSince = performance.now() - BACKLOG_RETENTION_MS
    for (const [channel, releasedAt] of this.#retained) {
      if (releasedAt > retainedSince && this.#retained.size <= MAX_RETAINED_CHANNELS) break
      this.#remove(channel)
    }
    let size = 0
    for (const channel of this.#channels.values()) size += channel.size
    for (const channel of this.#retained.keys()) {
      if (size <= MAX_BACKLOG_CHARACTERS) return
      size -= channel.size
      this.#remove(channel)
    }
    for (const channel of this.#channels.values()) {
      if (size <= MAX_BACKLOG_CHARACTERS) return
      size -= channel.size
      channel.dropBacklog()
    }
  }

  /** A channel, which from here on receives all its events. To be given back with `release`. */
  acquire(key: ChannelKey): Channel {
    let channel = this.#channels.get(key)
    if (channel === undefined) this.#channels.set(key, (channel = new Channel(key, this.#position)))
    channel.references += 1
    this.#retained.delete(channel)
    return channel
  }

  release(channel: Channel): void {
    channel.references -= 1
    if (channel.references > 0) return
    // Clients that reconnect soon need not read it from the database again.
    if (channel.hasBacklog) this.#retained.set(channel, performance.now())
    else this.#remove(channel)
  }

  #remove(channel: Channel): void {
    this.#channels.delete(channel.key)
    this.#retained.delete(channel)
  }

  /**
   * Gets the messages of an acquired channel after a position into memory, as far as the backlog reaches; channels that
   * are loaded together share their queries. Waits until the hub has reached the position. False when the position is
   * beyond the ledger's head.
   */
  async load(channel: Channel, since: number, reservation: Pick<Reservation, 'messages'>): Promise<boolean> {
    if (since > this.#position) {
      if (since > (await this.#headLookup.load(null))) return false
      await this.reach(since)
    }
    if (channel.messagesAfter(since) === 'not-loaded') await this.loadLastPosition(channel)
    if (channel.messagesAfter(since) === 'not-loaded') {
      const backlog = await this.#backlogLookup.load(channel.key)
      reservation.messages += backlog.messages.length
      channel.merge(backlog, backlog.upTo)
    }
    return true
  }

  /** Loads the position of an acquired channel's newest message. */
  async loadLastPosition(channel: Channel): Promise<void> {
    if (channel.lastPosition !== undefined) return
    await this.#lastPositionLookup.load(channel.key)
  }

  /** Waits until the hub has reached a position of the ledger. */
  async reach(position: number): Promise<void> {
    if (position <= this.#position) return
    await new Promise<void>((resolve) => this.#waiters.add({ position, resolve }))
  }

  /** Sends a listener at once what it has not got yet of the events that were delivered. */
  catchUp(channel: Channel, member: FanOutMember): void {
    const sent = channel.fanOut.catchUp(member)
    if (sent > 0) this.#parts.onSent(sent)
  }
}
