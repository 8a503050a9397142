import type { ClientFrame } from '../../../schema/frames.ts'
import { type ChannelKey, roomChannel, roomIdOf, userChannel } from '../channels/channel-names.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import { socketMessages } from '../messages.ts'
import type { Client } from '../sockets/client.ts'
import { closeCodes } from '../sockets/close-codes.ts'
import { type AnswerParts, answerSub, type OnLoaded, type Subscriber, UNAVAILABLE } from './answer-sub.ts'
import { answerWithState, type StateParts } from './answer-with-state.ts'
import {
  type AccessRefusal,
  accessChannel,
  type ChannelAccess,
  LEFT_MEANWHILE,
  NOT_ROOM_MEMBER,
} from './channel-access.ts'
import type { ChannelRequest, SubFrame } from './channel-request.ts'
import { resumeWithinBudget } from './resume-within-budget.ts'
import { Subscription } from './subscription.ts'

/** Rooms to which a socket may be subscribed at a time. */
const MAX_ROOMS = 50
/** How long a new socket's own channel waits for a `sub` with `since`, so that nothing newer is sent first. */
const HOLD_MS = 500

const TOO_MANY_ROOMS = {
  code: 'too_many_channels',
  message: socketMessages.too_many_rooms(MAX_ROOMS),
} as const

export interface SubscriptionParts extends AnswerParts, Pick<StateParts, 'roomState'> {
  readonly hub: Hub
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
  /** While a `sub` is answered: the rooms that the user left, with the positions at which that was delivered. */
  #leftMeanwhile: Map<number, number> | undefined

  constructor(userId: number, client: Client, parts: SubscriptionParts) {
    this.#userId = userId
    this.#client = client
    this.#parts = parts
    const own = userChannel(userId)
    this.#open(own, own, 'held')
    this.#holdTimer = this.#startAfterHold(own)
    this.#open('global', 'global', 'resuming').goLive(parts.hub.position)
  }

  /** Whether the client is subscribed to its user's own channel. */
  get hasOwnChannel(): boolean {
    return this.#byChannel.has(userChannel(this.#userId))
  }

  /** Answers each request of the frame. */
  async subscribe(sub: SubFrame): Promise<void> {
    const subscribe: Subscriber['subscribe'] = (access, request, onLoaded) => this.#subscribe(access, request, onLoaded)
    this.#leftMeanwhile = new Map()
    await answerSub(sub, { userId: this.#userId, client: this.#client, subscribe }, this.#parts)
    this.#leftMeanwhile = undefined
  }

  /**
   * The user is no longer a member of a room as of a position: what came before is sent, except of a replay that is under
   * way, then `unsubbed`, and nothing after. To be called before a message after the position is delivered.
   */
  leaveRoom(roomId: number, position: number): void {
    this.#leftMeanwhile?.set(roomId, position)
    const subscription = this.#byChannel.get(roomChannel(roomId))
    if (subscription === undefined) return
    subscription.catchUp()
    this.#remove(subscription)
    // Before its first answer, the client is refused instead.
    if (subscription.confirmed === undefined) return
    this.#client.send({ t: 'unsubbed', ch: subscription.name, code: NOT_ROOM_MEMBER.code })
  }

  async #subscribe({ key, position }: ChannelAccess, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    await this.#ownReplay
    // After that, only those who left later than their access was checked are former members.
    if (position !== null) await this.#parts.hub.reach(position)
    if (this.#isEnded) return
    const roomId = roomIdOf(key)
    const leftAt = roomId === null ? undefined : this.#leftMeanwhile?.get(roomId)
    if (leftAt !== undefined && leftAt > (position ?? 0)) return this.#refuse(request, LEFT_MEANWHILE)
    const existing = this.#byChannel.get(key)
    if (existing === undefined && roomId !== null && this.#roomCount >= MAX_ROOMS) {
      return this.#refuse(request, TOO_MANY_ROOMS)
    }
    const subscription = existing ?? this.#open(key, request.ch, 'resuming')
    await this.#answer(subscription, existing === undefined, request, onLoaded)
    const isAnswered = subscription.confirmed === request
    if (subscription.isRemoved && !isAnswered && !this.#isEnded) this.#refuse(request, LEFT_MEANWHILE)
  }

  #answer(subscription: Subscription, isNew: boolean, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    if (isNew) return this.#add(subscription, request, onLoaded)
    switch (subscription.state) {
      case 'held':
        return this.#startHeld(subscription, request, onLoaded)
      case 'live':
        return this.#resubscribe(subscription, request, onLoaded)
      case 'resuming':
        // Only when a room's uid changed while the channels of a frame were looked up.
        throw new Error(`two names of ${subscription.channel.key} in one frame`)
    }
  }

  #refuse({ i, ch }: Pick<ChannelRequest, 'i' | 'ch'>, refusal: AccessRefusal): void {
    this.#client.refuse({ i, ch, ...refusal })
  }

  get #roomCount(): number {
    return [...this.#byChannel.keys()].filter((key) => roomIdOf(key) !== null).length
  }

  /** Under any name of the channel: a room has its uid and its id. */
  async unsubscribe({ i, ch }: Unsub): Promise<void> {
    await this.#ownReplay
    let subscription = [...this.#byChannel.values()].find(({ name }) => name === ch)
    if (subscription === undefined) {
      try {
        const access = await accessChannel(ch, this.#userId, this.#parts.memberRoom)
        subscription = 'key' in access ? this.#byChannel.get(access.key) : undefined
      } catch (error) {
        this.#parts.onError(error)
        return this.#refuse({ i, ch }, UNAVAILABLE)
      }
    }
    if (subscription !== undefined) {
      subscription.catchUp()
      this.#remove(subscription)
    }
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#holdTimer)
    for (const subscription of this.#byChannel.values()) this.#remove(subscription)
  }

  async #add(subscription: Subscription, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    const { since, wantsState } = request
    const roomId = roomIdOf(subscription.channel.key)
    const { hub } = this.#parts
    try {
      if (wantsState && roomId !== null) {
        await this.#answerWithState(subscription, roomId, request, onLoaded)
      } else if (typeof since !== 'number') {
        subscription.confirm(request, hub.position, since === null)
        subscription.goLive(hub.position)
      } else {
        await this.#resume(subscription, since, onLoaded, async ({ messages, from }) => {
          subscription.confirm(request, from, messages !== null)
          await subscription.replay(messages ?? [], from)
        })
      }
    } catch (error) {
      this.#remove(subscription)
      throw error
    }
  }

  /** Starts the held channel, after the client's position or after the one at which it was held. */
  async #startHeld(subscription: Subscription, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    const { channel, from: heldFrom } = subscription
    subscription.pause()
    const since = typeof request.since === 'number' ? request.since : heldFrom
    let isExpired = false
    const start = async ({ messages, from }: Replay): Promise<void> => {
      subscription.confirm(request, from, request.since !== 'lost' && !isExpired && messages !== null)
      await subscription.replay(messages ?? [], from)
    }
    try {
      await this.#resume(subscription, since, onLoaded, async (replay) => {
        if (replay.messages === null) isExpired = true
        else await start(replay)
      })
      if (isExpired) await this.#resume(subscription, heldFrom, onLoaded, start)
    } catch (error) {
      subscription.hold()
      if (!this.#isEnded) this.#holdTimer = this.#startAfterHold(channel.key)
      throw error
    }
  }

  /** Answers a `sub` of a live channel: replays what came before the subscription, and nothing twice. */
  async #resubscribe(subscription: Subscription, request: ChannelRequest, onLoaded: OnLoaded): Promise<void> {
    const { channel, from: subscribedFrom } = subscription
    const { ch, since, wantsState } = request
    subscription.rename(ch)
    const roomId = roomIdOf(channel.key)
    if (wantsState && roomId !== null) return this.#answerWithState(subscription, roomId, request, onLoaded)
    if (typeof since !== 'number' || since >= subscribedFrom) {
      subscription.catchUp()
      return subscription.confirm(request, this.#parts.hub.position, since !== 'lost')
    }
    await this.#resume(subscription, since, onLoaded, async ({ messages, from }) => {
      subscription.catchUp()
      subscription.confirm(request, from, messages !== null)
      if (messages === null) return
      // Otherwise newer frames would go out between the slices, and a client that is cut then would miss the rest.
      subscription.pause()
      const earlier = messages.filter(({ position }) => position <= subscribedFrom)
      await subscription.replay(earlier, from)
    })
  }

  #answerWithState(
    subscription: Subscription,
    roomId: number,
    request: ChannelRequest,
    onLoaded: OnLoaded,
  ): Promise<void> {
    const { hub, roomState } = this.#parts
    const resume: StateParts['resume'] = (since, start) => this.#resumeLoaded(subscription, since, 0, start)
    return answerWithState(subscription, roomId, request, onLoaded, { hub, client: this.#client, roomState, resume })
  }

  /** Loads the messages after a position, and calls `start` with them within the user's budget. */
  async #resume(
    subscription: Subscription,
    since: number,
    onLoaded: OnLoaded,
    start: (replay: Replay) => Promise<void>,
  ): Promise<void> {
    const loaded = await this.#parts.hub.load(subscription.channel, since)
    onLoaded(loaded)
    await this.#resumeLoaded(subscription, since, loaded.messages, start)
  }

  #resumeLoaded(
    subscription: Subscription,
    since: number,
    expectedMessages: number | null,
    start: (replay: Replay) => Promise<void>,
  ): Promise<void> {
    const { hub, resumes } = this.#parts
    const resume = { userId: this.#userId, subscription, since, expectedMessages, start }
    return resumeWithinBudget(hub, resumes, resume)
  }

  /** Starts the held channel by itself when the client has not asked for it in time. */
  #startAfterHold(key: ChannelKey): NodeJS.Timeout {
    return setTimeout(() => {
      const subscription = this.#byChannel.get(key)
      if (subscription === undefined) return
      const { channel, from } = subscription
      this.#parts.hub
        .resume(channel, from, async ({ messages }) => {
          // The client may have subscribed or unsubscribed meanwhile.
          if (subscription.state !== 'held' || subscription.isRemoved) return
          if (messages === null) return this.#client.close(closeCodes.capacity)
          // A `sub` that comes from here on waits until the channel is live.
          const replay = subscription.replay(messages, from)
          this.#ownReplay = Promise.allSettled([replay])
          await replay
        })
        .catch((error: unknown) => {
          this.#parts.onError(error)
          this.#holdTimer = this.#startAfterHold(key)
        })
    }, HOLD_MS)
  }

  #open(key: ChannelKey, name: string, state: 'held' | 'resuming'): Subscription {
    const { hub } = this.#parts
    const subscription = new Subscription(hub, this.#client, hub.acquire(key), name, state)
    this.#byChannel.set(key, subscription)
    return subscription
  }

  #remove(subscription: Subscription): void {
    const { key } = subscription.channel
    if (this.#byChannel.get(key) === subscription) this.#byChannel.delete(key)
    subscription.remove()
  }
}
