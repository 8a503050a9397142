import { encodeFrames } from '../sockets/encode-frames.ts'
import type { Backlog } from './backlog-reader.ts'
import { MAX_BACKLOG_AGE_MS, MAX_BACKLOG_MESSAGES } from './channel-index.ts'
import { type ChannelMessage, frameText, messageSize } from './channel-message.ts'
import type { ChannelKey } from './channel-names.ts'

/** Receives a channel's frames. */
export interface Listener {
  /** Sends whole frames. */
  push(frames: Buffer): void
}

/** A channel with listeners on this instance, and its newest messages for clients that resume. */
export class Channel {
  readonly key: ChannelKey
  /** The position of the newest message; null when there is none, undefined until it is loaded. */
  lastPosition: number | null | undefined
  /** How many subscriptions keep the channel. */
  references = 0
  /** By the name under which they subscribed: a room's uid may have changed since. */
  readonly #listeners = new Map<string, Set<Listener>>()
  /** The backlog: every message after `#from`, oldest first. */
  #messages: ChannelMessage[] = []
  #from: number
  /** Whether nothing at or before `#from` can be replayed, so that the database need not be read. */
  #isComplete = false
  #size = 0
  /** Bodies that are not sent to the listeners yet. */
  #outgoing: string[] = []

  /** `position` is the hub's. */
  constructor(key: ChannelKey, position: number) {
    this.key = key
    this.#from = position
  }

  get hasBacklog(): boolean {
    return this.#isComplete || this.#messages.length > 0
  }

  /** Characters of the backlog. */
  get size(): number {
    return this.#size
  }

  append(message: ChannelMessage): void {
    this.lastPosition = message.position
    this.#outgoing.push(...message.bodies)
    // Frames on `global` are never replayed.
    if (this.key === 'global') return
    this.#messages.push(message)
    this.#size += messageSize(message)
    this.#dropOldest(this.#messages.length - MAX_BACKLOG_MESSAGES)
  }

  /** Sends what is outgoing; returns the number of frames. Called before a listener is added or removed. */
  flush(): number {
    if (this.#outgoing.length === 0) return 0
    const bodies = this.#outgoing
    this.#outgoing = []
    let sent = 0
    for (const [name, listeners] of this.#listeners) {
      const frames = encodeFrames(bodies.map((body) => frameText(name, body)))
      for (const listener of listeners) listener.push(frames)
      sent += bodies.length * listeners.size
    }
    return sent
  }

  addListener(name: string, listener: Listener): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) this.#listeners.set(name, new Set([listener]))
    else listeners.add(listener)
  }

  removeListener(name: string, listener: Listener): void {
    const listeners = this.#listeners.get(name)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(name)
  }

  /**
   * The messages after a position; `expired` when some of them can no longer be replayed, `not-loaded` when the
   * database has to be read.
   */
  messagesAfter(position: number, now: number): readonly ChannelMessage[] | 'expired' | 'not-loaded' {
    const oldestValid = this.#messages.findIndex(({ at }) => at >= now - MAX_BACKLOG_AGE_MS)
    this.#dropOldest(oldestValid === -1 ? this.#messages.length : oldestValid)
    if (position < this.#from) return this.#isComplete ? 'expired' : 'not-loaded'
    return this.#messages.filter((message) => message.position > position)
  }

  /** Puts what the database holds up to a position before the messages of this channel. */
  merge({ from, messages }: Backlog, upTo: number): void {
    if (this.#from > upTo) {
      // More messages than are replayed came while the database was read: all older ones have expired.
      if (this.#messages.length >= MAX_BACKLOG_MESSAGES) this.#isComplete = true
      return
    }
    this.#messages = [...messages, ...this.#messages.filter(({ position }) => position > upTo)]
    this.#from = from
    this.#isComplete = true
    this.#size = this.#messages.reduce((size, message) => size + messageSize(message), 0)
    this.#dropOldest(this.#messages.length - MAX_BACKLOG_MESSAGES)
  }

  /** Frees the memory of the backlog, which can be read from the database again. */
  dropBacklog(): void {
    this.#dropOldest(this.#messages.length)
    this.#isComplete = false
  }

  #dropOldest(count: number): void {
    if (count <= 0) return
    const dropped = this.#messages.splice(0, count)
    this.#from = dropped.at(-1)?.position ?? this.#from
    for (const message of dropped) this.#size -= messageSize(message)
  }
}
