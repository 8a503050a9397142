import type { ChannelKey } from '../frames/frame-mapper.ts'
import type { Backlog } from './backlog-reader.ts'
import { MAX_BACKLOG_AGE_MS, MAX_BACKLOG_MESSAGES } from './channel-index.ts'
import { type ChannelMessage, messageSize } from './channel-message.ts'
import { FanOut } from './fan-out.ts'

/** A channel with listeners on this instance, and its newest messages for clients that resume. */
export class Channel {
  readonly key: ChannelKey
  /** The position of the newest message; null when there is none, undefined until it is loaded. */
  lastPosition: number | null | undefined
  /** How many subscriptions keep the channel. */
  references = 0
  readonly fanOut = new FanOut()
  /** The backlog: every message after `#from`, oldest first. */
  #messages: ChannelMessage[] = []
  #from: number
  /** Whether everything at or before `#from` has expired, so that the database need not be read. */
  #isComplete = false
  #size = 0

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
    this.fanOut.append(message.bodies)
    if (this.key === 'global') return
    this.#messages.push(message)
    this.#size += messageSize(message)
    this.#dropOldest(this.#messages.length - MAX_BACKLOG_MESSAGES)
  }

  /**
   * The messages after a position; `expired` when some of them are too old, `not-loaded` when the
   * database has to be read.
   */
  messagesAfter(position: number, now = Date.now()): readonly ChannelMessage[] | 'expired' | 'not-loaded' {
    // `global` has no backlog.
    if (this.key === 'global') return []
    const oldestValid = this.#messages.findIndex(({ at }) => at >= now - MAX_BACKLOG_AGE_MS)
    this.#dropOldest(oldestValid === -1 ? this.#messages.length : oldestValid)
    // Most clients that come back have missed nothing of their own channel, which has few messages.
    if (this.lastPosition !== undefined && position >= (this.lastPosition ?? 0)) return []
    if (position < this.#from) return this.#isComplete ? 'expired' : 'not-loaded'
    return this.#messages.filter((message) => message.position > position)
  }

  /** Puts what the database has up to a position before the messages of this channel. */
  merge({ from, messages }: Backlog, upTo: number): void {
    if (this.#from > upTo) {
      // More messages than a backlog has came while the database was read: all older ones have expired.
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
