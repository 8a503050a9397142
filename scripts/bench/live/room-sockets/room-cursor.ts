/** What a client has of a room, by the rule of src/realtime/clients/README.md, and whether it is whole. */
export class RoomCursor {
  readonly uid: string
  readonly channel: string
  /** Of the room's events: how many, the newest position, and the sum of positions. */
  readonly received = { events: 0, last: 0, sum: 0 }
  /** Frames that came twice or out of order on one connection, or before all that they follow. */
  faults = 0
  /** Whether the present connection is subscribed. */
  isSubscribed = false
  #since: number | null = null
  /** Ids of the frames that came of the newest event. */
  readonly #seen = new Set<string>()
  /** The newest frame of this connection. */
  #newest = { position: 0, part: -1 }

  constructor(uid: string) {
    this.uid = uid
    this.channel = `one-to-room:${uid}`
  }

  /** In a `sub`. */
  get request(): { readonly ch: string; readonly since?: string } {
    return this.#since === null ? { ch: this.channel } : { ch: this.channel, since: String(this.#since) }
  }

  onDisconnected(): void {
    this.isSubscribed = false
    this.#newest = { position: 0, part: -1 }
  }

  onSubscribed(text: string): void {
    this.#since ??= numberIn(text, /"position":"(\d+)"/)
    this.isSubscribed = true
  }

  onHeartbeat(): void {
    // The newest event has come as a whole.
    if (this.isSubscribed) this.#advance(this.received.last)
  }

  onEvent(text: string): void {
    const position = numberIn(text, /"position":"(\d+)"/)
    const prev = numberIn(text, /"prev":"(\d+)"/)
    const id = /"id":"([\d.]+)"/.exec(text)?.[1] ?? ''
    const part = Number(id.split('.')[1])
    const { received } = this
    const newest = this.#newest
    if (position < newest.position || (position === newest.position && part <= newest.part)) this.faults += 1
    this.#newest = { position, part }
    // A connection that resumes before the newest event brings it again.
    if (this.#seen.has(id)) return
    if (position < received.last || (position > received.last && received.last > 0 && prev !== received.last))
      this.faults += 1
    if (position !== received.last) this.#advance(prev)
    this.#seen.add(id)
    received.events += 1
    received.sum += position
    received.last = position
  }

  #advance(since: number): void {
    this.#since = Math.max(since, this.#since ?? 0)
    this.#seen.clear()
  }
}

/** The number that a pattern captures; 0 when it is missing. */
const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)
