import { BatchedLookup } from '../../db/batched-lookup.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ChannelKey, Wanted, Words } from '../frames/announcer.ts'
import type { Tell, Told } from '../frames/event-mapper.ts'
import type { WordBook } from '../frames/lookup-cache.ts'
import type { History, Recalled } from './backlog.ts'
import { type Listener, Topic } from './channel.ts'
import { type Entry, entryOf } from './channel-message.ts'
import { Pace } from './flush-scheduler.ts'
import { ReplayQueue, sliceLength } from './replay-slices.ts'

/** Characters that are kept to be brought back, of all channels together. */
const MOST_KEPT = 64 * 1024 * 1024
/** Channels whose past is asked for at a time. */
const MOST_RECALLED = 16
/** For so long a channel's backlog is kept when nobody listens any more, and for so many channels at most. */
const BACKLOG_RETENTION_MS = 10_000
const MAX_RETAINED = 1_000

export interface HubParts {
  readonly tell: Tell
  readonly words: Pick<WordBook, 'find'>
  readonly history: Pick<History, 'lastBefore' | 'recall'>
  /** The ledger's end. */
  readonly head: () => Promise<number>
  /** Frames went out, so many to whoever got them. */
  readonly sent: (frames: number) => void
}

/** How a listener begins to listen. */
export interface Beginning {
  /** What is brought back; null when something cannot be brought back any more. */
  readonly entries: readonly Entry[] | null
  /** Everything after this position is brought back or follows. */
  readonly from: number
}

interface Missing {
  /** Those of which the last position is not known. */
  readonly topics: readonly ChannelKey[]
  readonly wanted: readonly Wanted[]
}

const NO_WORDS: Words = { users: new Map(), rooms: new Map(), decorations: new Map(), packages: new Map() }

interface Frame {
  readonly event: PositionedEvent
  readonly channel: ChannelKey
  readonly told: readonly Told[]
}

/**
 * Carries what the ledger tells to those who listen on this instance: in the ledger's order, once, whoever committed
 * it. Whatever has to be asked for is asked before; then all of it happens in one go, so that nobody begins or ceases to
 * listen in between.
 */
export class Hub {
  readonly #parts: HubParts
  readonly #topics = new Map<ChannelKey, Topic>()
  /** Topics that nobody holds, with when they were given back. */
  readonly #retained = new Map<Topic, number>()
  readonly #outgoing = new Set<Topic>()
  readonly #pace = new Pace(() => this.#flush())
  readonly #recall: BatchedLookup<ChannelKey, Recalled & { readonly upTo: number }>
  readonly #replays = new ReplayQueue()
  /** Those who wait until the ledger was heard up to a position. */
  readonly #waiting = new Set<{ readonly position: number; readonly resolve: () => void }>()
  #position: number

  /** `position` is where to begin. */
  constructor(parts: HubParts, position: number) {
    this.#parts = parts
    this.#position = position
    this.#recall = new BatchedLookup(MOST_RECALLED, async (channels) => {
      const upTo = this.#position
      const recalled = await parts.history.recall([...new Set(channels)], upTo)
      return channels.map((channel) => ({ from: upTo, entries: [], ...recalled.get(channel), upTo }))
    })
  }

  /** How far the ledger has been heard. */
  get position(): number {
    return this.#position
  }

  /** For the ledger's tail. */
  readonly follow = async (followed: readonly PositionedEvent[]): Promise<void> => {
    const events = followed.filter(({ position }) => position > this.#position)
    const frames = events.flatMap((event) =>
      [...this.#parts.tell(event)].map(([channel, told]): Frame => ({ event, channel, told })),
    )
    let words = NO_WORDS
    // Until nothing is missing any more: while we ask, others begin to listen.
    for (let missing = this.#missing(frames, true); missing !== null; missing = this.#missing(frames, false)) {
      const [found] = await Promise.all([this.#parts.words.find(missing.wanted), this.#learn(missing.topics)])
      words = found
    }
    for (const { event, channel, told } of frames) {
      const topic = this.#topics.get(channel)
      if (topic === undefined) continue
      const { position, at } = event
      topic.add(entryOf({ position, prev: topic.last ?? null, at: at / 1000 }, told, words))
      this.#outgoing.add(topic)
    }
    this.#position = events.at(-1)?.position ?? this.#position
    if (this.#outgoing.size > 0) this.#pace.soon()
    for (const waiting of this.#waiting) {
      if (waiting.position > this.#position) continue
      this.#waiting.delete(waiting)
      waiting.resolve()
    }
  }

  /** What has to be asked for before these frames can go to those who listen now; null when that is nothing. */
  #missing(frames: readonly Frame[], first: boolean): Missing | null {
    const heard = frames.filter(({ channel }) => this.#topics.has(channel))
    const topics = [...new Set(heard.map(({ channel }) => channel))]
    // A topic that is new since we asked last is always one of these.
    const unknown = topics.filter((channel) => this.#topics.get(channel)?.last === undefined)
    if (heard.length === 0 || (!first && unknown.length === 0)) return null
    return { topics: unknown, wanted: heard.flatMap(({ told }) => told.map(({ wants }) => wants)) }
  }

  async #learn(channels: readonly ChannelKey[]): Promise<void> {
    if (channels.length === 0) return
    const lasts = await this.#parts.history.lastBefore(channels, this.#position + 1)
    for (const [channel, last] of lasts) {
      const topic = this.#topics.get(channel)
      if (topic !== undefined) topic.last ??= last
    }
  }

  #flush(): void {
    let sent = 0
    for (const topic of this.#outgoing) sent += topic.flush()
    this.#outgoing.clear()
    this.#parts.sent(sent)
  }

  /**
   * Gives memory back: of channels that nobody listens to, after a while, and when there is too much in use, of those
   * first that have been listened to for longest.
   */
  trim(): void {
    const longAgo = performance.now() - BACKLOG_RETENTION_MS
    for (const [topic, releasedAt] of this.#retained) {
      if (releasedAt > longAgo && this.#retained.size <= MAX_RETAINED) break
      this.#remove(topic)
    }
    let size = 0
    for (const topic of this.#topics.values()) size += topic.size
    for (const topic of this.#retained.keys()) {
      if (size <= MOST_KEPT) return
      size -= topic.size
      this.#remove(topic)
    }
    for (const topic of this.#topics.values()) {
      if (size <= MOST_KEPT) return
      size -= topic.size
      topic.forget()
    }
  }

  /** Keeps a channel's topic, which from here on hears all that is announced. To be given back with `release`. */
  hold(key: ChannelKey): Topic {
    let topic = this.#topics.get(key)
    if (topic === undefined) this.#topics.set(key, (topic = new Topic(key, this.#position)))
    topic.holders += 1
    this.#retained.delete(topic)
    return topic
  }

  release(topic: Topic): void {
    topic.holders -= 1
    if (topic.holders > 0) return
    this.settle(topic)
    // Whoever comes back soon is not a reason to read it all again.
    if (topic.hasBacklog) this.#retained.set(topic, performance.now())
    else this.#remove(topic)
  }

  #remove(topic: Topic): void {
    this.#topics.delete(topic.key)
    this.#retained.delete(topic)
    this.#outgoing.delete(topic)
  }

  /** Sends what is still to go on a channel, so that somebody may come or go. */
  settle(topic: Topic): void {
    if (this.#outgoing.delete(topic)) this.#parts.sent(topic.flush())
  }

  /**
   * Finds what was announced on a topic, which is being held, after a position that a client has. `begin` is called once
   * it is there, and all that is announced later comes after that call. A replay that takes several turns of the event
   * loop begins when no other is under way. Answers how often the database was asked.
   */
  async resume(topic: Topic, since: number, begin: (beginning: Beginning) => Promise<void>): Promise<number> {
    let queries = 0
    if (since > this.#position) {
      queries += 1
      if (!(await this.#reach(since))) {
        // The ledger has not come that far: this is no position of ours.
        this.settle(topic)
        await begin({ entries: null, from: this.#position })
        return queries
      }
    }
    let release: (() => void) | undefined
    try {
      for (;;) {
        const isKept = topic.key !== 'global'
        const entries = isKept ? topic.after(since, Date.now()) : []
        if (entries === undefined) {
          release?.()
          release = undefined
          queries += 1
          const recalled = await this.#recall.load(topic.key)
          topic.remember(recalled, recalled.upTo)
        } else if (entries !== null && sliceLength(entries) < entries.length && release === undefined) {
          release = await this.#replays.acquire()
        } else {
          this.settle(topic)
          await begin({ entries, from: isKept && entries !== null ? since : this.#position })
          return queries
        }
      }
    } finally {
      release?.()
    }
  }

  /** Waits until the ledger was heard up to a position; false when it has not come that far. */
  async #reach(position: number): Promise<boolean> {
    if (position > (await this.#parts.head())) return false
    if (position <= this.#position) return true
    await new Promise<void>((resolve) => this.#waiting.add({ position, resolve }))
    return true
  }

  listen(topic: Topic, name: string, listener: Listener): void {
    this.settle(topic)
    topic.listen(name, listener)
  }

  leave(topic: Topic, name: string, listener: Listener): void {
    this.settle(topic)
    topic.leave(name, listener)
  }
}
