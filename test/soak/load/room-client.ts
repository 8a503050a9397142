import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'

interface Frame {
  readonly t: string
  readonly ch: string
  readonly position: string
  readonly prev: string | null
  readonly id: string
  readonly resumed: boolean
}

/** What a client received on a channel. */
class Channel {
  /** The position after which it received events. */
  from: string | undefined
  /** Ids of received frames in order, each once. */
  readonly ids = new Set<string>()
  /** The newest position, and the one to resume from so that no frame of it is missed. */
  newest = ''
  since: string | undefined
  /** About the current socket: whether it is subscribed, ids of its frames, and the position of the last one. */
  isSubscribed = false
  readonly onSocket = new Set<string>()
  previous: string | null = null
}

const MAX_RECONNECT_DELAY_MS = 500

/**
 * Subscribes to channels as src/realtime/clients/README.md describes: reconnects to another instance and resumes. Records as
 * faults an event twice on a socket, out of order, after another one than its `prev`, and a channel that is not resumed.
 */
export class RoomClient {
  readonly faults: string[] = []
  /** How often its connection was closed. */
  cuts = 0
  readonly channels: ReadonlyMap<string, Channel>
  readonly #nextOrigin: () => string
  readonly #token: string
  readonly #ownChannel: string
  #client: WebSocketClient | undefined
  #isStopped = false

  /** `nextOrigin` chooses an instance; `user` is that of the token. */
  constructor(nextOrigin: () => string, token: string, user: number, rooms: readonly string[]) {
    this.#nextOrigin = nextOrigin
    this.#token = token
    this.#ownChannel = `user:${user}`
    const names = [this.#ownChannel, ...rooms.map((uid) => `one-to-room:${uid}`)]
    this.channels = new Map(names.map((name) => [name, new Channel()]))
    this.#open()
  }

  /** Whether it is subscribed to all of its channels. */
  get isSubscribed(): boolean {
    return [...this.channels.values()].every(({ isSubscribed }) => isSubscribed)
  }

  stop(): void {
    this.#isStopped = true
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
    for (const channel of this.channels.values()) {
      channel.isSubscribed = false
      channel.previous = null
      channel.onSocket.clear()
    }
    if (this.#isStopped) return
    this.cuts += 1
    if (code >= 4_000 && code < 4_100) this.faults.push(`closed with ${code}`)
    await sleep(Math.random() * MAX_RECONNECT_DELAY_MS)
    if (!this.#isStopped) this.#open()
  }

  #onFrame(client: WebSocketClient, frame: Frame): void {
    const channel = this.channels.get(frame.ch)
    if (frame.t === 'ready') this.#subscribe(client, frame)
    else if (frame.t === 'err') this.faults.push(JSON.stringify(frame))
    else if (channel === undefined) return
    else if (frame.t === 'subbed') this.#onSubscribed(channel, frame)
    else if (frame.t === 'ev' && frame.prev !== undefined) this.#record(channel, frame)
  }

  #subscribe(client: WebSocketClient, { position }: Frame): void {
    for (const [ch, channel] of this.channels) {
      // The user's own channel sends events from the beginning.
      if (ch === this.#ownChannel) channel.since ??= channel.from ??= position
      client.send({ t: 'sub', ch, since: channel.since })
    }
  }

  #onSubscribed(channel: Channel, { ch, position, resumed }: Frame): void {
    if (channel.isSubscribed) this.faults.push(`${ch} was subscribed twice`)
    channel.isSubscribed = true
    if (channel.since !== undefined && !resumed) this.faults.push(`${ch} was not resumed from ${channel.since}`)
    channel.since ??= channel.from ??= position
  }

  #record(channel: Channel, { ch, position, prev, id }: Frame): void {
    if (!channel.isSubscribed && ch !== this.#ownChannel)
      this.faults.push(`${id} came before the subscription of ${ch}`)
    if (channel.onSocket.has(id)) this.faults.push(`${id} came twice on ${ch}`)
    // The first frame of a socket may repeat frames of the one before.
    const follows = channel.previous === null || position === channel.previous || prev === channel.previous
    if (!follows) this.faults.push(`${id} on ${ch} has prev ${prev}, but came after ${channel.previous}`)
    channel.onSocket.add(id)
    channel.previous = position
    if (channel.ids.has(id)) return
    channel.ids.add(id)
    if (position === channel.newest) return
    channel.newest = position
    channel.since = prev ?? '0'
  }
}
