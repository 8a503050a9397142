import type { ClientFrame, Echo } from '../../../schema/frames.ts'
import { ownTurn } from '../../http/limits/event-loop-yield.ts'
import type { Channel } from '../channels/channel.ts'
import { type ChannelMessage, frameText, messageSize } from '../channels/channel-message.ts'
import { parseChannelName, roomChannel, userChannel } from '../channels/channel-names.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import { sliceLength } from '../channels/replay-slices.ts'
import type { ResumeBudget } from '../channels/resume-budget.ts'
import type { ChannelKey } from '../frames/frame-mapper.ts'
import type { Client } from './client.ts'
import { closeCodes } from './close-codes.ts'
import { framed } from './framing.ts'

/** Rooms that a socket may listen to at a time. */
const MAX_ROOMS = 50
/**
 * For so long a new socket's own channel waits for a `sub` that says where to resume, so that nothing newer comes first.
 */
const HOLD_MS = 500

export interface SubscriptionParts {
  readonly hub: Hub
  readonly resumes: Pick<ResumeBudget, 'run'>
  /** The id of the room with this uid if the user is a member of it, else null. */
  readonly memberRoom: (uid: string, userId: number) => Promise<number | null>
  readonly onError: (error: unknown) => void
}

/** What a client listens to. */
interface Subscription {
  readonly channel: Channel
  name: string
  /** The client is sent everything after this position. */
  from: number
  /** Only one that is listening gets frames. One that is held begins by itself, one that was asked for when it can. */
  state: 'held' | 'asked' | 'listening'
}

type Sub = Extract<ClientFrame, { t: 'sub' }>
type Unsub = Extract<ClientFrame, { t: 'unsub' }>

/** The channels of one socket: its user's own and `global` from the beginning, rooms as they are asked for. */
export class Subscriptions {
  readonly #userId: number
  readonly #client: Client
  readonly #parts: SubscriptionParts
  readonly #byChannel = new Map<ChannelKey, Subscription>()
  #holdTimer: NodeJS.Timeout
  /** The held channel's replay, once it begins by itself. */
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

  /** Whether the client is on its user's own channel. */
  get hasOwnChannel(): boolean {
    return this.#byChannel.has(userChannel(this.#userId))
  }

  /** Answers the client in every case: what cannot be had now may be had later, and its other channels go on. */
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
    for (const [key, subscription] of this.#byChannel) if (subscription.name === ch) this.#remove(key, subscription)
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#holdTimer)
    for (const [key, subscription] of this.#byChannel) this.#remove(key, subscription)
  }

  /** The channel of a name; undefined when the client was told why it cannot have it. */
  async #resolveChannel(name: string, i: Echo): Promise<ChannelKey | undefined> {
    const channel = parseChannelName(name)
    switch (channel?.kind) {
      case undefined:
        this.#client.refuse({ i, ch: name, code: 'unknown_channel', message: 'There is no such channel.' })
        return undefined
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
        this.#client.refuse({ i, ch: name, code: 'not_room_member', message: 'Only members of the room may listen.' })
        return undefined
      }
    }
  }

  async #add(key: ChannelKey, name: string, i: Echo, since: number | null): Promise<void> {
    const rooms = [...this.#byChannel.keys()].filter((other) => other.startsWith('room:')).length
    if (key.startsWith('room:') && rooms >= MAX_ROOMS) {
      const message = `A socket listens to ${MAX_ROOMS} rooms at most.`
      return this.#client.refuse({ i, ch: name, code: 'too_many_channels', message })
    }
    const { hub } = this.#parts
    const topic = hub.acquire(key)
    if (since === null) {
      this.#confirm(i, name, hub.position, true)
      return this.#goLive(topic, name, hub.position)
    }
    try {
      await this.#resume(topic, since, async ({ messages: entries, from }) => {
        if (!this.#isEnded) this.#confirm(i, name, from, entries !== null)
        if (!(await this.#replay(topic, name, from, entries ?? []))) hub.release(topic)
      })
    } catch (error) {
      hub.release(topic)
      throw error
    }
  }

  /** Begins to listen to what was held, from where the client says or from where it was held. */
  async #startHeld(subscription: Subscription, i: Echo, since: number | null): Promise<void> {
    const { channel: topic, name } = subscription
    subscription.state = 'asked'
    let resumed = true
    const begin = async ({ messages: entries, from }: Replay): Promise<void> => {
      if (this.#isEnded) return
      this.#confirm(i, name, from, resumed && entries !== null)
      await this.#replay(topic, name, from, entries ?? [])
    }
    try {
      await this.#resume(topic, since ?? subscription.from, async (beginning) => {
        if (beginning.messages === null) resumed = false
        else await begin(beginning)
      })
      if (!resumed) await this.#resume(topic, subscription.from, begin)
    } catch (error) {
      subscription.state = 'held'
      if (!this.#isEnded) this.#holdTimer = this.#startAfterHold(topic.key)
      throw error
    }
  }

  /** The client listens already, and may want what was before. What it was sent it is not sent again. */
  async #resubscribe(subscription: Subscription, name: string, i: Echo, since: number | null): Promise<void> {
    const { channel: topic, from: before } = subscription
    const { hub } = this.#parts
    if (name !== subscription.name) {
      hub.removeListener(topic, subscription.name, this.#client)
      hub.addListener(topic, name, this.#client)
      subscription.name = name
    }
    if (since === null || since >= before) {
      hub.flush(topic)
      return this.#confirm(i, name, hub.position, true)
    }
    await this.#resume(topic, since, async ({ messages: entries, from }) => {
      if (this.#isEnded) return
      this.#confirm(i, name, from, entries !== null)
      if (entries === null) return
      subscription.from = from
      let rest = this.#sendSlice(
        name,
        entries.filter(({ position }) => position <= before),
      )
      while (rest.length > 0) {
        await ownTurn()
        if (this.#isEnded) return
        rest = this.#sendSlice(name, rest)
      }
    })
  }

  /** Finds what the client asks for, within what its user may have replayed. */
  #resume(topic: Channel, since: number, begin: (beginning: Replay) => Promise<void>): Promise<void> {
    const { hub, resumes } = this.#parts
    return resumes.run(this.#userId, async () => {
      if (this.#isEnded) {
        await begin({ messages: null, from: since })
        return { queries: 0, messages: 0, characters: 0 }
      }
      let replayed: readonly ChannelMessage[] = []
      const queries = await hub.resume(topic, since, (beginning) => {
        replayed = beginning.messages ?? []
        return begin(beginning)
      })
      const characters = replayed.reduce((sum, entry) => sum + messageSize(entry), 0)
      return { queries, messages: replayed.length, characters }
    })
  }

  /**
   * Sends a slice of these entries in each turn of the event loop, then what was announced meanwhile, and listens in the
   * turn of the last slice. False when the socket was closed before.
   */
  async #replay(topic: Channel, name: string, from: number, entries: readonly ChannelMessage[]): Promise<boolean> {
    if (this.#isEnded) return false
    let last = entries.at(-1)?.position ?? from
    let rest = this.#sendSlice(name, entries)
    while (rest.length > 0) {
      await ownTurn()
      if (this.#isEnded) return false
      const announced = topic.messagesAfter(last, Date.now())
      if (announced === undefined || announced === null) {
        // Memory was short: the client comes back and resumes from what it got.
        this.#client.close(closeCodes.capacity)
        return false
      }
      last = announced.at(-1)?.position ?? last
      rest = this.#sendSlice(name, [...rest, ...announced])
    }
    this.#goLive(topic, name, from)
    return true
  }

  #goLive(topic: Channel, name: string, from: number): void {
    this.#byChannel.set(topic.key, { channel: topic, name, from, state: 'listening' })
    this.#parts.hub.addListener(topic, name, this.#client)
  }

  /** Listens to what is held once nobody can be expected to ask for more. */
  #startAfterHold(key: ChannelKey): NodeJS.Timeout {
    return setTimeout(() => {
      const subscription = this.#byChannel.get(key)
      if (subscription === undefined) return
      const { channel: topic, name, from } = subscription
      this.#parts.hub
        .resume(topic, from, async ({ messages: entries }) => {
          // A `sub` may have come meanwhile.
          if (subscription.state !== 'held' || this.#byChannel.get(key) !== subscription) return
          if (entries === null) return this.#client.close(closeCodes.capacity)
          // One that comes from here on waits until the client listens.
          const replay = this.#replay(topic, name, from, entries)
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

  /** Sends as many of these entries as may go out in one turn of the event loop; answers the others. */
  #sendSlice(name: string, entries: readonly ChannelMessage[]): readonly ChannelMessage[] {
    const count = sliceLength(entries)
    const texts = entries.slice(0, count).flatMap(({ bodies }) => bodies.map((body) => frameText(name, body)))
    if (texts.length > 0) this.#client.pushReplay(framed(texts))
    return entries.slice(count)
  }

  #remove(key: ChannelKey, subscription: Subscription): void {
    const { channel: topic, name, state } = subscription
    this.#byChannel.delete(key)
    if (state === 'listening') this.#parts.hub.removeListener(topic, name, this.#client)
    this.#parts.hub.release(topic)
  }
}
