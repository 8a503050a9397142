import type { ClientFrame, Echo } from '../../schema/frames.ts'
import type { ChannelKey } from './announcer.ts'
import { readChannel, roomChannel, userChannel } from './channel-names.ts'
import { type Entry, inChannel } from './entry.ts'
import { framed } from './framing.ts'
import type { Beginning, Hub } from './hub.ts'
import type { ResumeBudget } from './resume-budget.ts'
import type { Listener, Topic } from './topic.ts'

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

/** Why the client cannot have a channel; with `retry` it may, later. */
export interface ChannelRefusal {
  readonly i: Echo
  readonly ch: string
  readonly code: string
  readonly message: string
  readonly retry?: true
}

export interface Client extends Listener {
  send(frame: object): void
  /** As `push`, for what happened before. */
  bringBack(frames: Buffer): void
  refuse(refusal: ChannelRefusal): void
}

/** The channels of one socket: its user's own and `global` from the beginning, rooms as they are asked for. */
export class Subscriptions {
  readonly #userId: number
  readonly #client: Client
  readonly #parts: SubscriptionParts
  readonly #all = new Map<ChannelKey, Subscription>()
  #timer: NodeJS.Timeout
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
    if (key === undefined || this.#ended) return
    const from = since === undefined ? null : Number(since)
    const subscription = this.#all.get(key)
    if (subscription === undefined) await this.#start(key, ch, i, from)
    else if (subscription.state === 'held') await this.#unhold(subscription, i, from)
    else await this.#again(subscription, ch, i, from)
  }

  unsubscribe({ i, ch }: Unsub): void {
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
      await this.#resume(topic, since, ({ entries, from }) => {
        if (this.#ended) return hub.release(topic)
        this.#answer(i, name, from, entries !== null)
        this.#bringBack(name, entries ?? [])
        this.#listen(topic, name, from)
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
    const begin = ({ entries, from }: Beginning): void => {
      if (this.#ended) return
      this.#answer(i, name, from, resumed && entries !== null)
      this.#bringBack(name, entries ?? [])
      this.#listen(topic, name, from)
    }
    try {
      await this.#resume(topic, since ?? subscription.from, (beginning) => {
        if (beginning.entries === null) resumed = false
        else begin(beginning)
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
    await this.#resume(topic, since, ({ entries, from }) => {
      if (this.#ended) return
      this.#answer(i, name, from, entries !== null)
      this.#bringBack(
        name,
        (entries ?? []).filter(({ position }) => position <= before),
      )
      if (entries !== null) subscription.from = from
    })
  }

  /** Finds what the client asks for, within what its user may have replayed. */
  #resume(topic: Topic, since: number, begin: (beginning: Beginning) => void): Promise<void> {
    const { hub, resumes } = this.#parts
    return resumes.run(this.#userId, async () => {
      if (this.#ended) {
        begin({ entries: null, from: since })
        return { queries: 0, entries: 0 }
      }
      let entries = 0
      const queries = await hub.resume(topic, since, (beginning) => {
        entries = beginning.entries?.length ?? 0
        begin(beginning)
      })
      return { queries, entries }
    })
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
        .resume(topic, from, ({ entries }) => {
          // A `sub` may have come meanwhile.
          if (subscription.state !== 'held' || this.#all.get(key) !== subscription) return
          this.#bringBack(name, entries ?? [])
          this.#listen(topic, name, from)
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

  #bringBack(name: string, entries: readonly Entry[]): void {
    const texts = entries.flatMap(({ bodies }) => bodies.map((body) => inChannel(name, body)))
    if (texts.length > 0) this.#client.bringBack(framed(texts))
  }

  #drop(key: ChannelKey, subscription: Subscription): void {
    const { topic, name, state } = subscription
    this.#all.delete(key)
    if (state === 'listening') this.#parts.hub.leave(topic, name, this.#client)
    this.#parts.hub.release(topic)
  }
}
