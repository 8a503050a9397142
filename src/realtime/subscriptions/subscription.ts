import type { RoomResource } from '../../../schema/rooms.ts'
import type { Channel } from '../channels/channel.ts'
import { type ChannelMessage, frameTexts } from '../channels/channel-message.ts'
import type { FanOutMember } from '../channels/fan-out.ts'
import type { Hub } from '../channels/hub.ts'
import type { Client } from '../sockets/client.ts'
import { encodeFrames } from '../sockets/socket-writer.ts'
import type { ChannelRequest } from './channel-access.ts'

/** A socket's subscription to a channel, which it keeps until it is removed; a live one gets frames as they come. */
export class Subscription {
  readonly channel: Channel
  readonly client: Client
  readonly #hub: Hub
  #name: string
  /** The client gets everything after this position. */
  #from: number
  /** The client's place among the channel's listeners while it is live. */
  #member: FanOutMember | undefined
  #isRemoved = false
  #confirmed: ChannelRequest | undefined

  /** The channel is an acquired one, and `name` the client's for it. */
  constructor(hub: Hub, client: Client, channel: Channel, name: string) {
    this.#hub = hub
    this.client = client
    this.channel = channel
    this.#name = name
    this.#from = hub.position
  }

  get name(): string {
    return this.#name
  }

  get from(): number {
    return this.#from
  }

  get isLive(): boolean {
    return this.#member !== undefined
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
    if (this.#member !== undefined) this.#member.name = name
  }

  /** Sends a live client at once what it has not got yet. */
  catchUp(): void {
    if (this.#member !== undefined) this.#hub.catchUp(this.channel, this.#member)
  }

  /** The client gets all that is delivered from here on, and has or gets everything after `from`. */
  goLive(from: number): void {
    this.#from = from
    this.#member = this.channel.fanOut.add(this.#name, this.client)
  }

  /** Sends a live client what it has not got yet, and nothing more until it is live again. */
  pause(): void {
    this.catchUp()
    this.#leave()
  }

  /** Sends these messages at once to a client that is not live. */
  send(messages: readonly ChannelMessage[]): void {
    const texts = messages.flatMap(({ bodies }) => frameTexts(this.#name, bodies, this.client.language))
    if (texts.length > 0) this.client.pushBacklog(encodeFrames(texts))
  }

  /** Answers a request. */
  confirm(request: ChannelRequest, position: number, resumed: boolean, state?: RoomResource): void {
    const { i, ch } = request
    this.#confirmed = request
    const frame = { t: 'subbed', i, ch, position: String(position), resumed, state }
    if (state === undefined) this.client.send(frame)
    // The client asked for states as for a backlog, and there may be many.
    else this.client.pushBacklog(encodeFrames([JSON.stringify(frame)]))
  }

  /** Gives the channel back. */
  remove(): void {
    if (this.#isRemoved) return
    this.#isRemoved = true
    this.#leave()
    this.#hub.release(this.channel)
  }

  #leave(): void {
    if (this.#member !== undefined) this.channel.fanOut.delete(this.#member)
    this.#member = undefined
  }
}
