import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'

/** A frame that was received. */
interface Frame {
  readonly t: string
  readonly ch: string
  readonly position: string
  readonly prev: string | null
  readonly id: string
  readonly resumed: boolean
}

/** The events that were received on a channel after `from`, without a gap. */
export interface Segment {
  readonly from: number
  readonly ids: string[]
  /** The client's position when it was too long ago to resume from. */
  readonly lost: number | null
}

/** The state of a channel in a client. */
class ChannelState {
  readonly segments: Segment[] = []
  /** The newest position, and the one to resume from so that no frame of it is missed. */
  newest = ''
  since: string | undefined
  /** Ids of received frames, of all sockets and of the present one. */
  readonly ids = new Set<string>()
  readonly onSocket = new Set<string>()
  /** Of the present socket: whether it is subscribed, and the position of the last frame. */
  isSubscribed = false
  previous: string | null = null

  startSegment(from: string, lost: string | null): void {
    this.segments.push({ from: Number(from), ids: [], lost: lost === null ? null : Number(lost) })
    this.since = from
  }

  cut(): void {
    this.isSubscribed = false
    this.previous = null
    this.onSocket.clear()
  }
}

const MAX_RECONNECT_DELAY_MS = 500

/**
 * Subscribes to channels as src/realtime/clients/README.md describes: reconnects to another instance and resumes. Records as
 * faults an event twice on a socket, out of order, or after another one than its `prev`.
 */
export class RoomClient {
  readonly faults: string[] = []
  /** How often its connection was closed. */
  cuts = 0
  readonly #nextOrigin: () => string
  readonly #token: string
  readonly #ownChannel: string
  readonly #channels: ReadonlyMap<string, ChannelState>
  #client: WebSocketClient | undefined
  #stopped = false

  /** `nextOrigin` chooses an instance; `user` is that of the token. */
  constructor(nextOrigin: () => string, token: string, user: number, rooms: readonly string[]) {
    this.#nextOrigin = nextOrigin
    this.#token = token
    this.#ownChannel = `user:${user}`
    this.#channels = new Map(
      [this.#ownChannel, ...rooms.map((uid) => `one-to-room:${uid}`)].map((ch) => [ch, new ChannelState()]),
    )
    this.#open()
  }

  /** Received segments by channel. */
  get segments(): ReadonlyMap<string, readonly Segment[]> {
    return new Map([...this.#channels].map(([channel, { segments }]) => [channel, segments]))
  }

  /** Whether it is subscribed to all of its channels. */
  get isSubscribed(): boolean {
    return [...this.#channels.values()].every(({ isSubscribed }) => isSubscribed)
  }

  stop(): void {
    this.#stopped = true
    this.#client?.terminate()
  }

  #open(): void {
    const client = new WebSocketClient(this.#nextOrigin(), {
      token: this.#token,
      onText: (text) => this.#onFrame(client, JSON.parse(text)),
      onClose: (code) => void this.#reconnect(code),
    })
    this.#client = client
  }

  async #reconnect(code: number): Promise<void> {
    for (const channel of this.#channels.values()) channel.cut()
    if (this.#stopped) return
    this.cuts += 1
    if (code >= 4_000 && code < 4_100) this.faults.push(`closed with ${code}`)
    await sleep(Math.random() * MAX_RECONNECT_DELAY_MS)
    if (!this.#stopped) this.#open()
  }

  #onFrame(client: WebSocketClient, frame: Frame): void {
    const channel = this.#channels.get(frame.ch)
    if (frame.t === 'ready') this.#subscribe(client, frame)
    else if (frame.t === 'err') this.faults.push(JSON.stringify(frame))
    else if (channel === undefined) return
    else if (frame.t === 'subbed') this.#startSegment(channel, frame)
    else if (frame.t === 'ev' && frame.prev !== undefined) this.#record(channel, frame)
  }

  #subscribe(client: WebSocketClient, { position }: Frame): void {
    for (const [ch, channel] of this.#channels) {
      // The user's own channel needs no subscription.
      if (ch === this.#ownChannel && channel.since === undefined) channel.startSegment(position, null)
      client.send({ t: 'sub', ch, since: channel.since })
    }
  }

  #startSegment(channel: ChannelState, { ch, position, resumed }: Frame): void {
    if (channel.isSubscribed) this.faults.push(`${ch} was subscribed twice`)
    channel.isSubscribed = true
    if (channel.since === undefined || !resumed) channel.startSegment(position, channel.since ?? null)
  }

  #record(channel: ChannelState, { ch, position, prev, id }: Frame): void {
    const segment = channel.segments.at(-1)
    if (segment === undefined || (!channel.isSubscribed && ch !== this.#ownChannel))
      this.faults.push(`${id} came before the subscription of ${ch}`)
    if (channel.onSocket.has(id)) this.faults.push(`${id} came twice on ${ch}`)
    // The first frame of a socket may repeat frames of the one before.
    const follows = channel.previous === null || position === channel.previous || prev === channel.previous
    if (!follows) this.faults.push(`${id} on ${ch} has prev ${prev}, but came after ${channel.previous}`)
    channel.onSocket.add(id)
    channel.previous = position
    if (channel.ids.has(id)) return
    channel.ids.add(id)
    if (position !== channel.newest) {
      channel.newest = position
      channel.since = prev ?? '0'
    }
    segment?.ids.push(id)
  }
}
