import type { ClientFrame } from '../../../schema/frames.ts'
import type { Channel } from '../channels/channel.ts'
import { type ChannelMessage, messageSize } from '../channels/channel-message.ts'
import { type ChannelKey, userChannel } from '../channels/channel-names.ts'
import type { FanOutMember } from '../channels/fan-out.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import type { ResumeUsage } from '../channels/resume-budget.ts'
import type { Client } from '../sockets/client.ts'
import { closeCodes } from '../sockets/close-codes.ts'
import { type AnswerParts, answerSub, type OnLoaded, type Subscriber } from './answer-sub.ts'
import type { ChannelRequest, SubFrame } from './channel-request.ts'
import { sendReplay } from './send-replay.ts'

/** Rooms to which a socket may be subscribed at a time. */
const MAX_ROOMS = 50
/** How long a new socket's own channel waits for a `sub` with `since`, so that nothing newer is sent first. */
const HOLD_MS = 500

const TOO_MANY_ROOMS = {
  code: 'too_many_channels',
  message: `A socket may be subscribed to ${MAX_ROOMS} rooms at most.`,
} as const

export interface SubscriptionParts extends AnswerParts {
  readonly hub: Hub
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
    const everyone = hub.acquire('global')
    const global: Subscription = { channel: everyone, name: everyone.key, from: hub.position, state: 'resuming' }
    this.#byChannel.set(everyone.key, global)
    this.#goLive(global)
  }

  /** Whether the client is subscribed to its user's own channel. */
  get hasOwnChannel(): boolean {
    return this.#byChannel.has(userChannel(this.#userId))
  }

  /** Answers each request of the frame. */
  subscribe(sub: SubFrame): Promise<void> {
    const subscribe: Subscriber['subscribe'] = (key, request, onLoaded) => this.#subscribe(key, request, onLoaded)
    return answerSub(sub, { userId: this.#userId, client: this.#client, subscribe }, this.#parts)
  }

  async #subscribe(key: ChannelKey, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    await this.#ownReplay
    if (this.#isEnded) return
    const subscription = this.#byChannel.get(key)
    if (subscription === undefined) await this.#add(key, request, onLoaded)
    else if (subscription.state === 'held') await this.#startHeld(subscription, request, onLoaded)
    // Only when a room's uid changed while the channels of a frame were looked up.
    else if (subscription.state === 'resuming') throw new Error(`two names of ${key} in one frame`)
    else await this.#resubscribe(subscription, subscription.state, request, onLoaded)
  }

  async unsubscribe({ i, ch }: Unsub): Promise<void> {
    await this.#ownReplay
    for (const subscription of this.#byChannel.values()) {
      if (subscription.name !== ch) continue
      const { channel, state } = subscription
      if (typeof state !== 'string') this.#parts.hub.catchUp(channel, state)
      this.#remove(subscription)
    }
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#holdTimer)
    for (const subscription of this.#byChannel.values()) this.#remove(subscription)
  }

  async #add(key: ChannelKey, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    const { i, ch, since } = request
    const rooms = [...this.#byChannel.keys()].filter((other) => other.startsWith('room:')).length
    if (key.startsWith('room:') && rooms >= MAX_ROOMS) return this.#client.refuse({ i, ch, ...TOO_MANY_ROOMS })
    const { hub } = this.#parts
    const channel = hub.acquire(key)
    const subscription: Subscription = { channel, name: ch, from: hub.position, state: 'resuming' }
    this.#byChannel.set(key, subscription)
    if (since === null) {
      this.#confirm(request, hub.position, true)
      return this.#goLive(subscription)
    }
    try {
      await this.#resume(subscription, since, onLoaded, async ({ messages, from }) => {
        this.#confirm(request, from, messages !== null)
        await this.#replay(subscription, messages ?? [], from)
      })
    } catch (error) {
      this.#remove(subscription)
      throw error
    }
  }

  /** Starts the held channel, after the client's position or after the one at which it was held. */
  async #startHeld(subscription: Subscription, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    const { channel, from: heldFrom } = subscription
    subscription.state = 'resuming'
    let isResumed = true
    const start = async ({ messages, from }: Replay): Promise<void> => {
      this.#confirm(request, from, isResumed && messages !== null)
      await this.#replay(subscription, messages ?? [], from)
    }
    try {
      await this.#resume(subscription, request.since ?? heldFrom, onLoaded, async (replay) => {
        if (replay.messages === null) isResumed = false
        else await start(replay)
      })
      if (!isResumed) await this.#resume(subscription, heldFrom, onLoaded, start)
    } catch (error) {
      subscription.state = 'held'
      if (!this.#isEnded) this.#holdTimer = this.#startAfterHold(channel.key)
      throw error
    }
  }

  /** Answers a `sub` of a live channel: replays what came before the subscription, and nothing twice. */
  async #resubscribe(
    subscription: Subscription,
    member: FanOutMember,
    request: ChannelRequest,
    onLoaded: OnLoaded,
  ): Promise<void> {
    const { channel, from: subscribedFrom } = subscription
    const { ch, since } = request
    const { hub } = this.#parts
    if (ch !== subscription.name) {
      hub.catchUp(channel, member)
      member.name = ch
      subscription.name = ch
    }
    if (since === null || since >= subscribedFrom) {
      hub.catchUp(channel, member)
      return this.#confirm(request, hub.position, true)
    }
    await this.#resume(subscription, since, onLoaded, async ({ messages, from }) => {
      hub.catchUp(channel, member)
      this.#confirm(request, from, messages !== null)
      if (messages === null) return
      this.#stopListening(subscription, member)
      const earlier = messages.filter(({ position }) => position <= subscribedFrom)
      await this.#replay(subscription, earlier, from)
    })
  }

  /**
   * Finds the messages after a position, within the user's resume budget, and calls `start` with them unless the client
   * does not want them any more.
   */
  async #resume(
    subscription: Subscription,
    since: number,
    onLoaded: OnLoaded,
    start: (replay: Replay) => Promise<void>,
  ): Promise<void> {
    const { hub, resumes } = this.#parts
    const { channel } = subscription
    const loaded = await hub.load(channel, since)
    onLoaded(loaded.queries)
    await resumes.run(this.#userId, loaded.messages ?? 0, async () => {
      let replayed: readonly ChannelMessage[] = []
      const startOnce = async (replay: Replay): Promise<void> => {
        if (this.#isGone(subscription)) return
        replayed = replay.messages ?? []
        await start(replay)
      }
      if (this.#isGone(subscription)) return usageOf(0, [])
      if (loaded.messages === null) {
        await startOnce({ messages: null, from: hub.position })
        return usageOf(0, [])
      }
      const queries = await hub.resume(channel, since, startOnce)
      return usageOf(queries, replayed)
    })
  }

  /** Sends messages to a client that does not listen, and makes it live. They are all that it lacks so far. */
  #replay(subscription: Subscription, messages: readonly ChannelMessage[], from: number): Promise<void> {
    const { channel, name } = subscription
    return sendReplay(this.#parts.hub, {
      client: this.#client,
      channel,
      name,
      messages,
      isAbandoned: () => this.#isGone(subscription),
      goLive: () => {
        subscription.from = from
        this.#goLive(subscription)
      },
    })
  }

  #goLive(subscription: Subscription): void {
    subscription.state = this.#parts.hub.addListener(subscription.channel, subscription.name, this.#client)
  }

  /** Otherwise newer frames would go out between the slices of a replay, and a client cut then would miss the rest. */
  #stopListening(subscription: Subscription, member: FanOutMember): void {
    this.#parts.hub.removeListener(subscription.channel, member)
    subscription.state = 'resuming'
  }

  /** Starts the held channel by itself when the client has not asked for it in time. */
  #startAfterHold(key: ChannelKey): NodeJS.Timeout {
    return setTimeout(() => {
      const subscription = this.#byChannel.get(key)
      if (subscription === undefined) return
      this.#parts.hub
        .resume(subscription.channel, subscription.from, async ({ messages }) => {
          // The client may have subscribed or unsubscribed meanwhile.
          if (subscription.state !== 'held' || this.#isGone(subscription)) return
          if (messages === null) return this.#client.close(closeCodes.capacity)
          // A `sub` that comes from here on waits until the channel is live.
          const replay = this.#replay(subscription, messages, subscription.from)
          this.#ownReplay = Promise.allSettled([replay])
          await replay
        })
        .catch((error: unknown) => {
          this.#parts.onError(error)
          this.#holdTimer = this.#startAfterHold(key)
        })
    }, HOLD_MS)
  }

  #confirm({ i, ch }: ChannelRequest, position: number, resumed: boolean): void {
    this.#client.send({ t: 'subbed', i, ch, position: String(position), resumed })
  }

  /** Whether the socket was closed, or the client unsubscribed meanwhile. */
  #isGone(subscription: Subscription): boolean {
    return this.#byChannel.get(subscription.channel.key) !== subscription
  }

  #remove(subscription: Subscription): void {
    if (this.#isGone(subscription)) return
    const { channel, state } = subscription
    this.#byChannel.delete(channel.key)
    if (typeof state !== 'string') this.#parts.hub.removeListener(channel, state)
    this.#parts.hub.release(channel)
  }
}

/** The channels of resumes are counted when they are loaded. */
function usageOf(queries: number, messages: readonly ChannelMessage[]): ResumeUsage {
  const characters = messages.reduce((sum, message) => sum + messageSize(message), 0)
  return { channels: 0, queries, messages: messages.length, characters }
}
