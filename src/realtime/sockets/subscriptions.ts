import type { ClientFrame, Echo } from '../../../schema/frames.ts'
import { systemClock } from '../../config/clock.ts'
import { yieldToEventLoop } from '../../http/limits/event-loop-yield.ts'
import type { Channel } from '../channels/channel.ts'
import { type ChannelMessage, frameText, messageSize } from '../channels/channel-message.ts'
import { type ChannelKey, parseChannelName, roomChannel, userChannel } from '../channels/channel-names.ts'
import type { FanOutMember } from '../channels/fan-out.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import { sliceLength } from '../channels/replay-slices.ts'
import type { ResumeBudget } from '../channels/resume-budget.ts'
import type { Client } from './client.ts'
import { closeCodes } from './close-codes.ts'
import { encodeFrames } from './encode-frames.ts'

/** Rooms to which a socket may be subscribed at a time. */
const MAX_ROOMS = 50
/** How long a new socket's own channel waits for a `sub` with `since`, so that nothing newer is sent first. */
const HOLD_MS = 500
/** The longest pause between two slices of a replay: the event loop may be busy with others. */
const MAX_PAUSE_MS = 10

export interface SubscriptionParts {
  readonly hub: Hub
  readonly resumes: Pick<ResumeBudget, 'run'>
  /** The id of the room with this uid if the user is a member of it, else null. */
  readonly memberRoom: (uid: string, userId: number) => Promise<number | null>
  readonly onError: (error: unknown) => void
}

interface Subscription {
  readonly channel: Channel
  name: string
  /** The client gets everything after this position. */
  from: number
  /**
   * `held`: the user's own channel, before its first `sub` or the end of the hold. `resuming`: a `sub` is being answered,
   * and the client does not listen. Otherwise live: the client gets frames as they come.
   */
  state: 'held' | 'resuming' | FanOutMember
}

type Sub = Extract<ClientFrame, { t: 'sub' }>
type Unsub = Extract<ClientFrame, { t: 'unsub' }>

/** A socket's channels: the user's own and `global` from the start, rooms as the client subscribes. */
export class Subscriptions {
  readonly #userId: number
  readonly #client: Client
  readonly #parts: SubscriptionParts
  readonly #byChannel = new Map<ChannelKey, Subscription>()
  #holdTimer: NodeJS.Timeout
  /** The replay of the user's own channel after the hold; client frames wait for it. */
  #ownReplay: Promise<unknown> | undefined
  #isEnded = false

  constructor(userId: number, client: Client, parts: SubscriptionParts) {
    this.#userId = userId
    this.#client = client
    this.#parts = parts
    const { hub } = parts
    const own = hub.acquire(userChannel(userId))
    this.#byChannel.set(own.key, { channel: own, name: own.key, from: hub.position, state: 'held' })
    this.#holdTimer = this.#startAfterHold(own.key)
    this.#goLive(hub.acquire('global'), 'global', hub.position)
  }

  /** Whether the client is subscribed to its user's own channel. */
  get hasOwnChannel(): boolean {
    return this.#byChannel.has(userChannel(this.#userId))
  }

  /** Always answers the client. A failure is answered with `retry` and does not affect its other channels. */
  async subscribe(sub: Sub): Promise<void> {
    try {
      await this.#subscribe(sub)
    } catch (error) {
      this.#parts.onError(error)
      const { i, ch } = sub
      this.#client.refuse({ i, ch, code: 'unavailable', message: 'Not available now. Try again later.', retry: true })
    }
  }

  async #subscribe({ i, ch, since }: Sub): Promise<void> {
    const key = await this.#resolveChannel(ch, i)
    await this.#ownReplay
    if (key === undefined || this.#isEnded) return
    const from = since === undefined ? null : Number(since)
    const subscription = this.#byChannel.get(key)
    if (subscription === undefined) await this.#add(key, ch, i, from)
    else if (subscription.state === 'held') await this.#startHeld(subscription, i, from)
    else await this.#resubscribe(subscription, ch, i, from)
  }

  async unsubscribe({ i, ch }: Unsub): Promise<void> {
    await this.#ownReplay
    for (const [key, subscription] of this.#byChannel) {
      if (subscription.name !== ch) continue
      const { channel, state } = subscription
      if (typeof state !== 'string') this.#parts.hub.catchUp(channel, state)
      this.#remove(key, subscription)
    }
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#holdTimer)
    for (const [key, subscription] of this.#byChannel) this.#remove(key, subscription)
  }

  /** The channel of a name; undefined when the client was refused. */
  async #resolveChannel(name: string, i: Echo): Promise<ChannelKey | undefined> {
    const channel = parseChannelName(name)
    switch (channel?.kind) {
      case undefined: {
        const message = 'Expected one-to-room:{room_uid}, user:{id} or global.'
        this.#client.refuse({ i, ch: name, code: 'unknown_channel', message })
        return undefined
      }
      case 'global':
        return 'global'
      case 'user': {
        const own = userChannel(this.#userId)
        if (name === own) return own
        this.#client.refuse({ i, ch: name, code: 'forbidden', message: 'This is the channel of another user.' })
        return undefined
      }
      case 'room': {
        const roomId = await this.#parts.memberRoom(channel.uid, this.#userId)
        if (roomId !== null) return roomChannel(roomId)
        const message = 'Only members of the room may subscribe to it.'
        this.#client.refuse({ i, ch: name, code: 'not_room_member', message })
        return undefined
      }
    }
  }

  async #add(key: ChannelKey, name: string, i: Echo, since: number | null): Promise<void> {
    const rooms = [...this.#byChannel.keys()].filter((other) => other.startsWith('room:')).length
    if (key.startsWith('room:') && rooms >= MAX_ROOMS) {
      const message = `A socket may be subscribed to ${MAX_ROOMS} rooms at most.`
      return this.#client.refuse({ i, ch: name, code: 'too_many_channels', message })
    }
    const { hub } = this.#parts
    const channel = hub.acquire(key)
    if (since === null) {
      this.#confirm(i, name, hub.position, true)
      return this.#goLive(channel, name, hub.position)
    }
    try {
      await this.#resume(channel, since, async ({ messages, from }) => {
        if (!this.#isEnded) this.#confirm(i, name, from, messages !== null)
        if (!(await this.#replay(channel, name, from, messages ?? []))) hub.release(channel)
      })
    } catch (error) {
      hub.release(channel)
      throw error
    }
  }

  /** Starts the held channel, after the client's position or after the one at which it was held. */
  async #startHeld(subscription: Subscription, i: Echo, since: number | null): Promise<void> {
    const { channel, name } = subscription
    subscription.state = 'resuming'
    let isResumed = true
    const start = async ({ messages, from }: Replay): Promise<void> => {
      if (this.#isEnded) return
      this.#confirm(i, name, from, isResumed && messages !== null)
      await this.#replay(channel, name, from, messages ?? [])
    }
    try {
      await this.#resume(channel, since ?? subscription.from, async (replay) => {
        if (replay.messages === null) isResumed = false
        else await start(replay)
      })
      if (!isResumed) await this.#resume(channel, subscription.from, start)
    } catch (error) {
      subscription.state = 'held'
      if (!this.#isEnded) this.#holdTimer = this.#startAfterHold(channel.key)
      throw error
    }
  }

  /** Answers a `sub` of a live channel: replays what came before the subscription, and nothing twice. */
  async #resubscribe(subscription: Subscription, name: string, i: Echo, since: number | null): Promise<void> {
    const { channel, from: subscribedFrom, state: member } = subscription
    if (typeof member === 'string') throw new Error(`${name} is not live`)
    const { hub } = this.#parts
    if (name !== subscription.name) {
      hub.catchUp(channel, member)
      member.name = name
      subscription.name = name
    }
    if (since === null || since >= subscribedFrom) {
      hub.catchUp(channel, member)
      return this.#confirm(i, name, hub.position, true)
    }
    await this.#resume(channel, since, async ({ messages, from }) => {
      if (this.#isEnded) return
      hub.catchUp(channel, member)
      this.#confirm(i, name, from, messages !== null)
      if (messages === null) return
      // Otherwise newer frames would go out between the slices, and a client that is cut then would miss the rest.
      hub.removeListener(channel, member)
      subscription.state = 'resuming'
      const earlier = messages.filter(({ position }) => position <= subscribedFrom)
      await this.#replay(channel, name, from, earlier)
    })
  }

  /** Finds the messages after a position, within the user's resume budget. */
  #resume(channel: Channel, since: number, start: (replay: Replay) => Promise<void>): Promise<void> {
    const { hub, resumes } = this.#parts
    return resumes.run(this.#userId, async () => {
      if (this.#isEnded) {
        await start({ messages: null, from: since })
        return { queries: 0, messages: 0, characters: 0 }
      }
      let replayed: readonly ChannelMessage[] = []
      const queries = await hub.resume(channel, since, (replay) => {
        replayed = replay.messages ?? []
        return start(replay)
      })
      const characters = replayed.reduce((sum, message) => sum + messageSize(message), 0)
      return { queries, messages: replayed.length, characters }
    })
  }

  /**
   * Sends these messages in slices, then those that came meanwhile, and goes live in the turn of the last slice. It
   * pauses between two slices for as long as a turn took, so that others have half of the event loop's time. False when
   * the socket was closed before. The client must not be a listener, and `messages` must be all that it still lacks of
   * what the hub has delivered.
   */
  async #replay(channel: Channel, name: string, from: number, messages: readonly ChannelMessage[]): Promise<boolean> {
    if (this.#isEnded) return false
    let { position: last } = this.#parts.hub
    let sentAt = systemClock.now()
    let rest = this.#sendSlice(name, messages)
    while (rest.length > 0) {
      await yieldToEventLoop()
      await systemClock.sleep(Math.min(systemClock.now() - sentAt, MAX_PAUSE_MS))
      if (this.#isEnded) return false
      const newer = channel.messagesAfter(last, Date.now())
      if (newer === 'expired' || newer === 'not-loaded') {
        // The backlog was dropped to free memory. The client resumes from what it got.
        this.#client.close(closeCodes.capacity)
        return false
      }
      last = newer.at(-1)?.position ?? last
      sentAt = systemClock.now()
      rest = this.#sendSlice(name, [...rest, ...newer])
    }
    this.#goLive(channel, name, from)
    return true
  }

  #goLive(channel: Channel, name: string, from: number): void {
    const member = this.#parts.hub.addListener(channel, name, this.#client)
    this.#byChannel.set(channel.key, { channel, name, from, state: member })
  }

  /** Starts the held channel by itself when the client has not asked for it in time. */
  #startAfterHold(key: ChannelKey): NodeJS.Timeout {
    return setTimeout(() => {
      const subscription = this.#byChannel.get(key)
      if (subscription === undefined) return
      const { channel, name, from } = subscription
      this.#parts.hub
        .resume(channel, from, async ({ messages }) => {
          // The client may have subscribed or unsubscribed meanwhile.
          if (subscription.state !== 'held' || this.#byChannel.get(key) !== subscription) return
          if (messages === null) return this.#client.close(closeCodes.capacity)
          // A `sub` that comes from here on waits until the channel is live.
          const replay = this.#replay(channel, name, from, messages)
          this.#ownReplay = Promise.allSettled([replay])
          await replay
        })
        .catch((error: unknown) => {
          this.#parts.onError(error)
          this.#holdTimer = this.#startAfterHold(key)
        })
    }, HOLD_MS)
  }

  #confirm(i: Echo, ch: string, position: number, resumed: boolean): void {
    this.#client.send({ t: 'subbed', i, ch, position: String(position), resumed })
  }

  /** Sends the first slice of these messages; returns the rest. */
  #sendSlice(name: string, messages: readonly ChannelMessage[]): readonly ChannelMessage[] {
    const count = sliceLength(messages)
    const texts = messages.slice(0, count).flatMap(({ bodies }) => bodies.map((body) => frameText(name, body)))
    if (texts.length > 0) this.#client.pushReplay(encodeFrames(texts))
    return messages.slice(count)
  }

  #remove(key: ChannelKey, subscription: Subscription): void {
    const { channel, state } = subscription
    this.#byChannel.delete(key)
    if (typeof state !== 'string') this.#parts.hub.removeListener(channel, state)
    this.#parts.hub.release(channel)
  }
}
