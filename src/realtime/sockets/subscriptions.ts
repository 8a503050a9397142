import type { ClientFrame, Echo } from '../../../schema/frames.ts'
import { ownTurn } from '../../http/limits/event-loop-yield.ts'
import type { Topic } from '../channels/channel.ts'
import { type Entry, inChannel, sizeOf } from '../channels/channel-message.ts'
import { readChannel, roomChannel, userChannel } from '../channels/channel-names.ts'
import type { Beginning, Hub } from '../channels/hub.ts'
import { sliceLength } from '../channels/replay-slices.ts'
import type { ResumeBudget } from '../channels/resume-budget.ts'
import type { ChannelKey } from '../frames/announcer.ts'
import type { Client } from './client.ts'
import { closeCodes } from './close-codes.ts'
import { framed } from './framing.ts'

/** Rooms that a socket may listen to at a time. */
const MOST_ROOMS = 50
/**
 * For so long a new socket's own channel waits for a `sub` that says where to resume, so that nothing newer comes first.
 */
const HOLD_MS = 500

export interface SubscriptionParts {
  readonly hub: Hub
  readonly resumes: Pick<ResumeBudget, 'run'>
  /** The id of the room with this uid if the user is a member of it, else null. */
  readonly memberRoom: (uid: string, userId: number) => Promise<number | null>
  readonly failed: (error: unknown) => void
}

/** What a client listens to. */
interface Subscription {
  readonly topic: Topic
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
  readonly #all = new Map<ChannelKey, Subscription>()
  #timer: NodeJS.Timeout
  /** The held channel's replay, once it begins by itself. */
  #heldReplay: Promise<unknown> | undefined
  #ended = false

  constructor(userId: number, client: Client, parts: SubscriptionParts) {
    this.#userId = userId
    this.#client = client
    this.#parts = parts
    const { hub } = parts
    const own = hub.hold(userChannel(userId))
    this.#all.set(own.key, { topic: own, name: own.key, from: hub.position, state: 'held' })
    this.#timer = this.#later(own.key)
    this.#listen(hub.hold('global'), 'global', hub.position)
  }

  /** Whether the client is on its user's own channel. */
  get hasOwn(): boolean {
    return this.#all.has(userChannel(this.#userId))
  }

  /** Answers the client in every case: what cannot be had now may be had later, and its other channels go on. */
  async subscribe(sub: Sub): Promise<void> {
    try {
      await this.#subscribe(sub)
    } catch (error) {
      this.#parts.failed(error)
      const { i, ch } = sub
      this.#client.refuse({ i, ch, code: 'unavailable', message: 'Not available now. Try again later.', retry: true })
    }
  }

  async #subscribe({ i, ch, since }: Sub): Promise<void> {
    const key = await this.#find(ch, i)
    await this.#heldReplay
    if (key === undefined || this.#ended) return
    const from = since === undefined ? null : Number(since)
    const subscription = this.#all.get(key)
    if (subscription === undefined) await this.#start(key, ch, i, from)
    else if (subscription.state === 'held') await this.#unhold(subscription, i, from)
    else await this.#again(subscription, ch, i, from)
  }

  async unsubscribe({ i, ch }: Unsub): Promise<void> {
    await this.#heldReplay
    for (const [key, subscription] of this.#all) if (subscription.name === ch) this.#drop(key, subscription)
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    for (const [key, subscription] of this.#all) this.#drop(key, subscription)
  }

  /** The channel of a name; undefined when the client was told why it cannot have it. */
  async #find(name: string, i: Echo): Promise<ChannelKey | undefined> {
    const channel = readChannel(name)
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

  async #start(key: ChannelKey, name: string, i: Echo, since: number | null): Promise<void> {
    const rooms = [...this.#all.keys()].filter((other) => other.startsWith('room:')).length
    if (key.startsWith('room:') && rooms >= MOST_ROOMS) {
      const message = `A socket listens to ${MOST_ROOMS} rooms at most.`
      return this.#client.refuse({ i, ch: name, code: 'too_many_channels', message })
    }
    const { hub } = this.#parts
    const topic = hub.hold(key)
    if (since === null) {
      this.#answer(i, name, hub.position, true)
      return this.#listen(topic, name, hub.position)
    }
    try {
      await this.#resume(topic, since, async ({ entries, from }) => {
        if (!this.#ended) this.#answer(i, name, from, entries !== null)
        if (!(await this.#replay(topic, name, from, entries ?? []))) hub.release(topic)
      })
    } catch (error) {
      hub.release(topic)
      throw error
    }
  }

  /** Begins to listen to what was held, from where the client says or from where it was held. */
  async #unhold(subscription: Subscription, i: Echo, since: number | null): Promise<void> {
    const { topic, name } = subscription
    subscription.state = 'asked'
    let resumed = true
    const begin = async ({ entries, from }: Beginning): Promise<void> => {
      if (this.#ended) return
      this.#answer(i, name, from, resumed && entries !== null)
      await this.#replay(topic, name, from, entries ?? [])
    }
    try {
      await this.#resume(topic, since ?? subscription.from, async (beginning) => {
        if (beginning.entries === null) resumed = false
        else await begin(beginning)
      })
      if (!resumed) await this.#resume(topic, subscription.from, begin)
    } catch (error) {
      subscription.state = 'held'
      if (!this.#ended) this.#timer = this.#later(topic.key)
      throw error
    }
  }

  /** The client listens already, and may want what was before. What it was sent it is not sent again. */
  async #again(subscription: Subscription, name: string, i: Echo, since: number | null): Promise<void> {
    const { topic, from: before } = subscription
    const { hub } = this.#parts
    if (name !== subscription.name) {
      hub.leave(topic, subscription.name, this.#client)
      hub.listen(topic, name, this.#client)
      subscription.name = name
    }
    if (since === null || since >= before) {
      hub.settle(topic)
      return this.#answer(i, name, hub.position, true)
    }
    await this.#resume(topic, since, async ({ entries, from }) => {
      if (this.#ended) return
      this.#answer(i, name, from, entries !== null)
      if (entries === null) return
      subscription.from = from
      let rest = this.#bringBack(
        name,
        entries.filter(({ position }) => position <= before),
      )
      while (rest.length > 0) {
        await ownTurn()
        if (this.#ended) return
        rest = this.#bringBack(name, rest)
      }
    })
  }

  /** Finds what the client asks for, within what its user may have replayed. */
  #resume(topic: Topic, since: number, begin: (beginning: Beginning) => Promise<void>): Promise<void> {
    const { hub, resumes } = this.#parts
    return resumes.run(this.#userId, async () => {
      if (this.#ended) {
        await begin({ entries: null, from: since })
        return { queries: 0, entries: 0, characters: 0 }
      }
      let replayed: readonly Entry[] = []
      const queries = await hub.resume(topic, since, (beginning) => {
        replayed = beginning.entries ?? []
        return begin(beginning)
      })
      const characters = replayed.reduce((sum, entry) => sum + sizeOf(entry), 0)
      return { queries, entries: replayed.length, characters }
    })
  }

  /**
   * Sends a slice of these entries in each turn of the event loop, then what was announced meanwhile, and listens in the
   * turn of the last slice. False when the socket was closed before.
   */
  async #replay(topic: Topic, name: string, from: number, entries: readonly Entry[]): Promise<boolean> {
    if (this.#ended) return false
    let last = entries.at(-1)?.position ?? from
    let rest = this.#bringBack(name, entries)
    while (rest.length > 0) {
      await ownTurn()
      if (this.#ended) return false
      const announced = topic.after(last, Date.now())
      if (announced === undefined || announced === null) {
        // Memory was short: the client comes back and resumes from what it got.
        this.#client.close(closeCodes.capacity)
        return false
      }
      last = announced.at(-1)?.position ?? last
      rest = this.#bringBack(name, [...rest, ...announced])
    }
    this.#listen(topic, name, from)
    return true
  }

  #listen(topic: Topic, name: string, from: number): void {
    this.#all.set(topic.key, { topic, name, from, state: 'listening' })
    this.#parts.hub.listen(topic, name, this.#client)
  }

  /** Listens to what is held once nobody can be expected to ask for more. */
  #later(key: ChannelKey): NodeJS.Timeout {
    return setTimeout(() => {
      const subscription = this.#all.get(key)
      if (subscription === undefined) return
      const { topic, name, from } = subscription
      this.#parts.hub
        .resume(topic, from, async ({ entries }) => {
          // A `sub` may have come meanwhile.
          if (subscription.state !== 'held' || this.#all.get(key) !== subscription) return
          if (entries === null) return this.#client.close(closeCodes.capacity)
          // One that comes from here on waits until the client listens.
          const replay = this.#replay(topic, name, from, entries)
          this.#heldReplay = Promise.allSettled([replay])
          await replay
        })
        .catch((error: unknown) => {
          this.#parts.failed(error)
          this.#timer = this.#later(key)
        })
    }, HOLD_MS)
  }

  #answer(i: Echo, ch: string, position: number, resumed: boolean): void {
    this.#client.send({ t: 'subbed', i, ch, position: String(position), resumed })
  }

  /** Sends as many of these entries as may go out in one turn of the event loop; answers the others. */
  #bringBack(name: string, entries: readonly Entry[]): readonly Entry[] {
    const count = sliceLength(entries)
    const texts = entries.slice(0, count).flatMap(({ bodies }) => bodies.map((body) => inChannel(name, body)))
    if (texts.length > 0) this.#client.bringBack(framed(texts))
    return entries.slice(count)
  }

  #drop(key: ChannelKey, subscription: Subscription): void {
    const { topic, name, state } = subscription
    this.#all.delete(key)
    if (state === 'listening') this.#parts.hub.leave(topic, name, this.#client)
    this.#parts.hub.release(topic)
  }
}
