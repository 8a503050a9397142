import { BatchedLookup } from '../../db/batched-lookup.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { EventMapper, FrameTemplate } from '../frames/event-mapper.ts'
import type { ChannelKey, Profiles, RequiredIds } from '../frames/frame-mapper.ts'
import type { ProfileCache } from '../frames/profile-cache.ts'
import type { Backlog, BacklogReader } from './backlog-reader.ts'
import { Channel, type Listener } from './channel.ts'
import { type ChannelMessage, channelMessage } from './channel-message.ts'
import { FlushScheduler } from './flush-scheduler.ts'
import { ReplayQueue, sliceLength } from './replay-slices.ts'

/** Characters that are kept to be brought back, of all channels together. */
const MAX_BACKLOG_CHARACTERS = 64 * 1024 * 1024
/** Channels whose past is asked for at a time. */
const MAX_CHANNELS_PER_READ = 16
/** For so long a channel's backlog is kept when nobody listens any more, and for so many channels at most. */
const BACKLOG_RETENTION_MS = 10_000
const MAX_RETAINED_CHANNELS = 1_000

export interface HubParts {
  readonly mapEvent: EventMapper
  readonly profiles: Pick<ProfileCache, 'get'>
  readonly backlogs: Pick<BacklogReader, 'lastBefore' | 'read'>
  /** The ledger's end. */
  readonly head: () => Promise<number>
  /** Frames went out, so many to whoever got them. */
  readonly onSent: (frames: number) => void
}

/** How a listener begins to listen. */
export interface Replay {
  /** What is brought back; null when something cannot be brought back any more. */
  readonly messages: readonly ChannelMessage[] | null
  /** Everything after this position is brought back or follows. */
  readonly from: number
}

interface MissingData {
  /** Those of which the last position is not known. */
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
 * Carries what the ledger tells to those who listen on this instance: in the ledger's order, once, whoever committed
 * it. Whatever has to be asked for is asked before; then all of it happens in one go, so that nobody begins or ceases to
 * listen in between.
 */
export class Hub {
  readonly #parts: HubParts
  readonly #channels = new Map<ChannelKey, Channel>()
  /** Topics that nobody holds, with when they were given back. */
  readonly #retained = new Map<Channel, number>()
  readonly #outgoing = new Set<Channel>()
  readonly #flushScheduler = new FlushScheduler(() => this.#flushAll())
  readonly #backlogLookup: BatchedLookup<ChannelKey, Backlog & { readonly upTo: number }>
  readonly #replayQueue = new ReplayQueue()
  /** Those who wait until the ledger was heard up to a position. */
  readonly #waiters = new Set<{ readonly position: number; readonly resolve: () => void }>()
  #position: number

  /** `position` is where to begin. */
  constructor(parts: HubParts, position: number) {
    this.#parts = parts
    this.#position = position
    this.#backlogLookup = new BatchedLookup(MAX_CHANNELS_PER_READ, async (channels) => {
      const upTo = this.#position
      const recalled = await parts.backlogs.read([...new Set(channels)], upTo)
      return channels.map((channel) => ({ from: upTo, messages: [], ...recalled.get(channel), upTo }))
    })
  }

  /** How far the ledger has been heard. */
  get position(): number {
    return this.#position
  }

  /** For the ledger's tail. */
  readonly onEvents = async (delivered: readonly PositionedEvent[]): Promise<void> => {
    const events = delivered.filter(({ position }) => position > this.#position)
    const frames = events.flatMap((event) =>
      [...this.#parts.mapEvent(event)].map(([channel, templates]): ChannelFrames => ({ event, channel, templates })),
    )
    let profiles = NO_PROFILES
    // Until nothing is missing any more: while we ask, others begin to listen.
    for (let missing = this.#missingData(frames, true); missing !== null; missing = this.#missingData(frames, false)) {
      const [found] = await Promise.all([
        this.#parts.profiles.get(missing.requiredIds),
        this.#loadLastPositions(missing.channels),
      ])
      profiles = found
    }
    for (const { event, channel, templates } of frames) {
      const listenedTo = this.#channels.get(channel)
      if (listenedTo === undefined) continue
      const { position, at } = event
      listenedTo.append(
        channelMessage({ position, prev: listenedTo.lastPosition ?? null, at: at / 1000 }, templates, profiles),
      )
      this.#outgoing.add(listenedTo)
    }
    this.#position = events.at(-1)?.position ?? this.#position
    if (this.#outgoing.size > 0) this.#flushScheduler.schedule()
    for (const waiting of this.#waiters) {
      if (waiting.position > this.#position) continue
      this.#waiters.delete(waiting)
      waiting.resolve()
    }
  }

  /** What has to be asked for before these frames can go to those who listen now; null when that is nothing. */
  #missingData(frames: readonly ChannelFrames[], first: boolean): MissingData | null {
    const needed = frames.filter(({ channel }) => this.#channels.has(channel))
    const channels = [...new Set(needed.map(({ channel }) => channel))]
    // A topic that is new since we asked last is always one of these.
    const unknown = channels.filter((channel) => this.#channels.get(channel)?.lastPosition === undefined)
    if (needed.length === 0 || (!first && unknown.length === 0)) return null
    return {
      channels: unknown,
      requiredIds: needed.flatMap(({ templates }) => templates.map(({ requiredIds }) => requiredIds)),
    }
  }

  async #loadLastPositions(channels: readonly ChannelKey[]): Promise<void> {
    if (channels.length === 0) return
    const positions = await this.#parts.backlogs.lastBefore(channels, this.#position + 1)
    for (const [channel, last] of positions) {
      const topic = this.#channels.get(channel)
      if (topic !== undefined) topic.lastPosition ??= last
    }
  }

  #flushAll(): void {
    let sent = 0
    for (const topic of this.#outgoing) sent += topic.flush()
    this.#outgoing.clear()
    this.#parts.onSent(sent)
  }

  /**
   * Gives memory back: of channels that nobody listens to, after a while, and when there is too much in use, of those
   * first that have been listened to for longest.
   */
  trim(): void {
    const longAgo = performance.now() - BACKLOG_RETENTION_MS
    for (const [topic, releasedAt] of this.#retained) {
      if (releasedAt > longAgo && this.#retained.size <= MAX_RETAINED_CHANNELS) break
      this.#remove(topic)
    }
    let size = 0
    for (const topic of this.#channels.values()) size += topic.size
    for (const topic of this.#retained.keys()) {
      if (size <= MAX_BACKLOG_CHARACTERS) return
      size -= topic.size
      this.#remove(topic)
    }
    for (const topic of this.#channels.values()) {
      if (size <= MAX_BACKLOG_CHARACTERS) return
      size -= topic.size
      topic.dropBacklog()
    }
  }

  /** Keeps a channel's topic, which from here on hears all that is announced. To be given back with `release`. */
  acquire(key: ChannelKey): Channel {
    let topic = this.#channels.get(key)
    if (topic === undefined) this.#channels.set(key, (topic = new Channel(key, this.#position)))
    topic.references += 1
    this.#retained.delete(topic)
    return topic
  }

  release(topic: Channel): void {
    topic.references -= 1
    if (topic.references > 0) return
    this.flush(topic)
    // Whoever comes back soon is not a reason to read it all again.
    if (topic.hasBacklog) this.#retained.set(topic, performance.now())
    else this.#remove(topic)
  }

  #remove(topic: Channel): void {
    this.#channels.delete(topic.key)
    this.#retained.delete(topic)
    this.#outgoing.delete(topic)
  }

  /** Sends what is still to go on a channel, so that somebody may come or go. */
  flush(topic: Channel): void {
    if (this.#outgoing.delete(topic)) this.#parts.onSent(topic.flush())
  }

  /**
   * Finds what was announced on a topic, which is being held, after a position that a client has. `begin` is called once
   * it is there, and all that is announced later comes after that call. A replay that takes several turns of the event
   * loop begins when no other is under way. Answers how often the database was asked.
   */
  async resume(topic: Channel, since: number, begin: (beginning: Replay) => Promise<void>): Promise<number> {
    let queries = 0
    if (since > this.#position) {
      queries += 1
      if (!(await this.#waitFor(since))) {
        // The ledger has not come that far: this is no position of ours.
        this.flush(topic)
        await begin({ messages: null, from: this.#position })
        return queries
      }
    }
    let release: (() => void) | undefined
    try {
      for (;;) {
        const isKept = topic.key !== 'global'
        const entries = isKept ? topic.messagesAfter(since, Date.now()) : []
        if (entries === undefined) {
          release?.()
          release = undefined
          queries += 1
          const recalled = await this.#backlogLookup.load(topic.key)
          topic.merge(recalled, recalled.upTo)
        } else if (entries !== null && sliceLength(entries) < entries.length && release === undefined) {
          release = await this.#replayQueue.acquire()
        } else {
          this.flush(topic)
          await begin({ messages: entries, from: isKept && entries !== null ? since : this.#position })
          return queries
        }
      }
    } finally {
      release?.()
    }
  }

  /** Waits until the ledger was heard up to a position; false when it has not come that far. */
  async #waitFor(position: number): Promise<boolean> {
    if (position > (await this.#parts.head())) return false
    if (position <= this.#position) return true
    await new Promise<void>((resolve) => this.#waiters.add({ position, resolve }))
    return true
  }

  addListener(topic: Channel, name: string, listener: Listener): void {
    this.flush(topic)
    topic.addListener(name, listener)
  }

  removeListener(topic: Channel, name: string, listener: Listener): void {
    this.flush(topic)
    topic.removeListener(name, listener)
  }
}
