import type { ChannelKey } from '../frames/announcer.ts'
import { framed } from '../sockets/framing.ts'
import type { Recalled } from './backlog.ts'
import { BACK_MS, MOST_BACK } from './channel-index.ts'
import { type Entry, inChannel, sizeOf } from './channel-message.ts'

/** One who gets a channel's frames. */
export interface Listener {
  /** Sends whole frames. */
  push(frames: Buffer): void
}

/** A channel that somebody listens to on this instance. */
export class Topic {
  readonly key: ChannelKey
  /** The last position that was announced; null when there is none, undefined as long as nobody had to know. */
  last: number | null | undefined
  /** Those who keep it. */
  holders = 0
  /** Listeners by the name under which they know the channel: a room's uid may have been changed meanwhile. */
  readonly #listeners = new Map<string, Set<Listener>>()
  /** What can be brought back from memory: everything after `#from`. */
  #entries: Entry[] = []
  #from: number
  /** Whether nothing more can be brought back by asking the database. */
  #whole = false
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
    return this.#whole || this.#entries.length > 0
  }

  /** Characters of what can be brought back. */
  get size(): number {
    return this.#size
  }

  /** What was announced next. */
  add(entry: Entry): void {
    this.last = entry.position
    this.#outgoing.push(...entry.bodies)
    // What everybody is told is not brought back.
    if (this.key === 'global') return
    this.#entries.push(entry)
    this.#size += sizeOf(entry)
    this.#forgetBefore(this.#entries.length - MOST_BACK)
  }

  /** Sends what is still to go. To be called before anybody comes or goes. */
  flush(): number {
    if (this.#outgoing.length === 0) return 0
    const bodies = this.#outgoing
    this.#outgoing = []
    let sent = 0
    for (const [name, listeners] of this.#listeners) {
      const frames = framed(bodies.map((body) => inChannel(name, body)))
      for (const listener of listeners) listener.push(frames)
      sent += bodies.length * listeners.size
    }
    return sent
  }

  listen(name: string, listener: Listener): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) this.#listeners.set(name, new Set([listener]))
    else listeners.add(listener)
  }

  leave(name: string, listener: Listener): void {
    const listeners = this.#listeners.get(name)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(name)
  }

  /**
   * What was announced after a position; null when something of it cannot be brought back any more, undefined when the
   * database has to be asked.
   */
  after(position: number, now: number): readonly Entry[] | null | undefined {
    const young = this.#entries.findIndex(({ at }) => at >= now - BACK_MS)
    this.#forgetBefore(young === -1 ? this.#entries.length : young)
    if (position < this.#from) return this.#whole ? null : undefined
    return this.#entries.filter((entry) => entry.position > position)
  }

  /** Takes in what the database knows up to a position; false when something after it was forgotten meanwhile. */
  remember({ from, entries }: Recalled, upTo: number): boolean {
    if (this.#from > upTo) return false
    this.#entries = [...entries, ...this.#entries.filter(({ position }) => position > upTo)]
    this.#from = from
    this.#whole = true
    this.#size = this.#entries.reduce((size, entry) => size + sizeOf(entry), 0)
    this.#forgetBefore(this.#entries.length - MOST_BACK)
    return true
  }

  /** Gives the memory back. */
  forget(): void {
    this.#forgetBefore(this.#entries.length)
    this.#whole = false
  }

  #forgetBefore(count: number): void {
    if (count <= 0) return
    const forgotten = this.#entries.splice(0, count)
    this.#from = forgotten.at(-1)?.position ?? this.#from
    for (const entry of forgotten) this.#size -= sizeOf(entry)
  }
}
