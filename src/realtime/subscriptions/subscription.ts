import type { RoomResource } from '../../../schema/rooms.ts'
import type { Channel } from '../channels/channel.ts'
import type { ChannelMessage } from '../channels/channel-message.ts'
import type { FanOutMember } from '../channels/fan-out.ts'
import type { Hub } from '../channels/hub.ts'
import type { Client } from '../sockets/client.ts'
import { encodeFrames } from '../sockets/encode-frames.ts'
import type { ChannelRequest } from './channel-request.ts'
import { sendMessages, sendReplay } from './send-replay.ts'

/**
 * A socket's subscription to a channel, which it keeps until it is removed. `held`: the user's own channel, before its
 * first `sub` or the end of the hold. `resuming`: a `sub` is being answered, and the client does not listen. `live`: the
 * client gets frames as they come.
 */
export class Subscription {
  readonly channel: Channel
  readonly #hub: Hub
  readonly #client: Client
  #name: string
  /** The client gets everything after this position. */
  #from: number
  #state: 'held' | 'resuming' | FanOutMember
  #isRemoved = false
  #confirmed: ChannelRequest | undefined

  /** The channel is an acquired one, and `name` the client's for it. */
  constructor(hub: Hub, client: Client, channel: Channel, name: string, state: 'held' | 'resuming') {
    this.#hub = hub
    this.#client = client
    this.channel = channel
    this.#name = name
    this.#from = hub.position
    this.#state = state
  }

  get name(): string {
    return this.#name
  }

  get from(): number {
    return this.#from
  }

  get state(): 'held' | 'resuming' | 'live' {
    return typeof this.#state === 'string' ? this.#state : 'live'
  }

  /** Whether the socket was closed, or the client has unsubscribed. */
  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** The request that was answered last; undefined before the first answer. */
  get confirmed(): ChannelRequest | undefined {
    return this.#confirmed
  }

  /** A room's uid may have changed. */
  rename(name: string): void {
    if (name === this.#name) return
    this.catchUp()
    this.#name = name
    if (typeof this.#state !== 'string') this.#state.name = name
  }

  /** Sends a live client at once what it has not got yet. */
  catchUp(): void {
    if (typeof this.#state !== 'string') this.#hub.catchUp(this.channel, this.#state)
  }

  /** The client gets all that is delivered from here on, and has or gets everything after `from`. */
  goLive(from: number): void {
    this.#from = from
    this.#state = this.#hub.addListener(this.channel, this.#name, this.#client)
  }

  hold(): void {
    this.#state = 'held'
  }

  /** Sends a live client what it has not got yet, and nothing more until it is live again. */
  pause(): void {
    this.catchUp()
    if (typeof this.#state !== 'string') this.#hub.removeListener(this.channel, this.#state)
    this.#state = 'resuming'
  }

  /** Sends these messages at once to a client that does not listen. */
  send(messages: readonly ChannelMessage[]): void {
    sendMessages(this.#client, this.#name, messages)
  }

  /** Sends these messages, which are all that the client lacks so far, in slices, and makes it live. */
  replay(messages: readonly ChannelMessage[], from: number): Promise<void> {
    return sendReplay(this.#hub, {
      client: this.#client,
      channel: this.channel,
      name: this.#name,
      messages,
      isAbandoned: () => this.#isRemoved,
      goLive: () => this.goLive(from),
    })
  }

  /** Answers a request. */
  confirm(request: ChannelRequest, position: number, resumed: boolean, state?: RoomResource): void {
    const { i, ch } = request
    this.#confirmed = request
    const frame = { t: 'subbed', i, ch, position: String(position), resumed, state }
    if (state === undefined) this.#client.send(frame)
    // The client asked for states as for a replay, and there may be many.
    else this.#client.pushReplay(encodeFrames([JSON.stringify(frame)]))
  }

  /** Gives the channel back. */
  remove(): void {
    if (this.#isRemoved) return
    this.#isRemoved = true
    if (typeof this.#state !== 'string') this.#hub.removeListener(this.channel, this.#state)
    this.#hub.release(this.channel)
  }
}
