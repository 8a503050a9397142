import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'

/** An event as it came over a socket. */
interface Frame {
  readonly t: string
  readonly ch: string
  readonly position: string
  readonly prev: string | null
  readonly id: string
  readonly resumed: boolean
}

/** What was heard on a channel without a hole: everything after `from`. */
export interface Stretch {
  readonly from: number
  readonly ids: string[]
  /** The position that the client had, where that was too long ago to go on from. */
  readonly lost: number | null
}

/** A channel as a client knows it. */
class ChannelLog {
  readonly stretches: Stretch[] = []
  /** The newest position, and where to go on from so that all of it is heard. */
  at = ''
  since: string | undefined
  /** Frames that were heard, of all sockets and of this one. */
  readonly ids = new Set<string>()
  readonly onSocket = new Set<string>()
  /** On this socket: whether it listens, and the position of the frame before. */
  isSubscribed = false
  previous: string | null = null

  startStretch(from: string, lost: string | null): void {
    this.stretches.push({ from: Number(from), ids: [], lost: lost === null ? null : Number(lost) })
    this.since = from
  }

  cut(): void {
    this.isSubscribed = false
    this.previous = null
    this.onSocket.clear()
  }
}

const PAUSE_MS = 500

/**
 * Listens to channels as the README tells clients to: comes back to another instance and goes on where it was. Notes
 * what a client may not see: an event twice on a socket, out of order, or after another than its `prev` says.
 */
export class RoomClient {
  readonly faults: string[] = []
  /** How often it was cut off. */
  cuts = 0
  readonly #origins: () => string
  readonly #token: string
  readonly #own: string
  readonly #logs: ReadonlyMap<string, ChannelLog>
  #client: WebSocketClient | undefined
  #stopped = false

  /** `origins` says where to go next; `user` is whose token it is. */
  constructor(origins: () => string, token: string, user: number, rooms: readonly string[]) {
    this.#origins = origins
    this.#token = token
    this.#own = `user:${user}`
    this.#logs = new Map([this.#own, ...rooms.map((uid) => `one-to-room:${uid}`)].map((ch) => [ch, new ChannelLog()]))
    this.#open()
  }

  /** What was heard of each channel. */
  get stretches(): ReadonlyMap<string, readonly Stretch[]> {
    return new Map([...this.#logs].map(([channel, { stretches }]) => [channel, stretches]))
  }

  /** Whether it listens to all of its channels. */
  get isSubscribed(): boolean {
    return [...this.#logs.values()].every(({ isSubscribed }) => isSubscribed)
  }

  stop(): void {
    this.#stopped = true
    this.#client?.terminate()
  }

  #open(): void {
    const client = new WebSocketClient(this.#origins(), {
      token: this.#token,
      onText: (text) => this.#onFrame(client, JSON.parse(text)),
      onClose: (code) => void this.#reconnect(code),
    })
    this.#client = client
  }

  async #reconnect(code: number): Promise<void> {
    for (const log of this.#logs.values()) log.cut()
    if (this.#stopped) return
    this.cuts += 1
    if (code >= 4_000 && code < 4_100) this.faults.push(`closed with ${code}`)
    await sleep(Math.random() * PAUSE_MS)
    if (!this.#stopped) this.#open()
  }

  #onFrame(client: WebSocketClient, frame: Frame): void {
    const log = this.#logs.get(frame.ch)
    if (frame.t === 'ready') this.#subscribe(client, frame)
    else if (frame.t === 'err') this.faults.push(JSON.stringify(frame))
    else if (log === undefined) return
    else if (frame.t === 'subbed') this.#startStretch(log, frame)
    else if (frame.t === 'ev' && frame.prev !== undefined) this.#record(log, frame)
  }

  #subscribe(client: WebSocketClient, { position }: Frame): void {
    for (const [ch, log] of this.#logs) {
      // The own channel is heard by itself.
      if (ch === this.#own && log.since === undefined) log.startStretch(position, null)
      client.send({ t: 'sub', ch, since: log.since })
    }
  }

  #startStretch(log: ChannelLog, { ch, position, resumed }: Frame): void {
    if (log.isSubscribed) this.faults.push(`${ch} began twice`)
    log.isSubscribed = true
    if (log.since === undefined || !resumed) log.startStretch(position, log.since ?? null)
  }

  #record(log: ChannelLog, { ch, position, prev, id }: Frame): void {
    const stretch = log.stretches.at(-1)
    if (stretch === undefined || (!log.isSubscribed && ch !== this.#own))
      this.faults.push(`${id} came before ${ch} began`)
    if (log.onSocket.has(id)) this.faults.push(`${id} came twice on ${ch}`)
    // The first frame of a socket follows on what was heard before.
    const follows = log.previous === null || position === log.previous || prev === log.previous
    if (!follows) this.faults.push(`${id} on ${ch} says that it follows ${prev}, and it follows ${log.previous}`)
    log.onSocket.add(id)
    log.previous = position
    if (log.ids.has(id)) return
    log.ids.add(id)
    if (position !== log.at) {
      log.at = position
      log.since = prev ?? '0'
    }
    stretch?.ids.push(id)
  }
}
