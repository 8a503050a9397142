import type { ChannelKey } from '../frames/frame-mapper.ts'
import { framed } from '../sockets/framing.ts'
import type { Backlog } from './backlog-reader.ts'
import { MAX_BACKLOG_AGE_MS, MAX_BACKLOG_MESSAGES } from './channel-index.ts'
import { type ChannelMessage, frameText, messageSize } from './channel-message.ts'

/** One who gets a channel's frames. */
export interface Listener {
  /** Sends whole frames. */
  push(frames: Buffer): void
}

/** A channel that somebody listens to on this instance. */
export class Channel {
  readonly key: ChannelKey
  /** The last position that was announced; null when there is none, undefined as long as nobody had to know. */
  lastPosition: number | null | undefined
  /** Those who keep it. */
  references = 0
  /** Listeners by the name under which they know the channel: a room's uid may have been changed meanwhile. */
  readonly #listeners = new Map<string, Set<Listener>>()
  /** What can be brought back from memory: everything after `#from`. */
  #messages: ChannelMessage[] = []
  #from: number
  /** Whether nothing more can be brought back by asking the database. */
  #isComplete = false
  #size = 0
  /** Frames that are still to go to the listeners. */
  #outgoing: string[] = []

  /** `position` is how far the ledger has been heard. */
  constructor(key: ChannelKey, position: number) {
    this.key = key
    this.#from = position
  }

  /** Whether there is anything to keep for who comes next. */
  get hasBacklog(): boolean {
    return this.#isComplete || this.#messages.length > 0
  }

  /** Characters of what can be brought back. */
  get size(): number {
    return this.#size
  }

  /** What was announced next. */
  append(entry: ChannelMessage): void {
    this.lastPosition = entry.position
    this.#outgoing.push(...entry.bodies)
    // What everybody is told is not brought back.
    if (this.key === 'global') return
    this.#messages.push(entry)
    this.#size += messageSize(entry)
    this.#dropOldest(this.#messages.length - MAX_BACKLOG_MESSAGES)
  }

  /** Sends what is still to go. To be called before anybody comes or goes. */
  flush(): number {
    if (this.#outgoing.length === 0) return 0
    const bodies = this.#outgoing
    this.#outgoing = []
    let sent = 0
    for (const [name, listeners] of this.#listeners) {
      const frames = framed(bodies.map((body) => frameText(name, body)))
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
   * What was announced after a position; null when something of it cannot be brought back any more, undefined when the
   * database has to be asked.
   */
  messagesAfter(position: number, now: number): readonly ChannelMessage[] | null | undefined {
    const young = this.#messages.findIndex(({ at }) => at >= now - MAX_BACKLOG_AGE_MS)
    this.#dropOldest(young === -1 ? this.#messages.length : young)
    if (position < this.#from) return this.#isComplete ? null : undefined
    return this.#messages.filter((entry) => entry.position > position)
  }

  /** Takes in what the database knows up to a position; false when something after it was forgotten meanwhile. */
  merge({ from, messages }: Backlog, upTo: number): boolean {
    if (this.#from > upTo) return false
    this.#messages = [...messages, ...this.#messages.filter(({ position }) => position > upTo)]
    this.#from = from
    this.#isComplete = true
    this.#size = this.#messages.reduce((size, entry) => size + messageSize(entry), 0)
    this.#dropOldest(this.#messages.length - MAX_BACKLOG_MESSAGES)
    return true
  }

  /** Gives the memory back. */
  dropBacklog(): void {
    this.#dropOldest(this.#messages.length)
    this.#isComplete = false
  }

  #dropOldest(count: number): void {
    if (count <= 0) return
    const dropped = this.#messages.splice(0, count)
    this.#from = dropped.at(-1)?.position ?? this.#from
    for (const entry of dropped) this.#size -= messageSize(entry)
  }
}
