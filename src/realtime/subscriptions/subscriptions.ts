import type { ClientFrame } from '../../../schema/frames.ts'
import type { CurrentIncarnation } from '../../ledger/subscriptions/applied-events.ts'
import { type Reservation, type ResumeBudget, unlimited } from '../channels/resume-budget.ts'
import { type ChannelKey, roomChannel, roomIdOf, userChannel } from '../frames/frame-mapper.ts'
import { socketMessages } from '../messages.ts'
import type { Client } from '../sockets/client.ts'
import {
  type AccessRefusal,
  accessChannel,
  type ChannelAccess,
  type ChannelRequest,
  isPlain,
  LEFT_MEANWHILE,
  type MemberRoom,
  NOT_ROOM_MEMBER,
  type RoomState,
  requestsIn,
  type SubFrame,
} from './channel-access.ts'
import { type ResumeParts, resume, resumeWithState } from './resume.ts'
import { Subscription } from './subscription.ts'

/** Rooms to which a socket may be subscribed at a time. */
const MAX_ROOMS = 50
/** How long a new socket's own channel waits for a `sub` with `since`, so that nothing newer is sent first. */
const MAX_WAIT_MS = 500

const TOO_MANY_ROOMS = {
  code: 'too_many_channels',
  message: socketMessages.too_many_rooms(MAX_ROOMS),
} as const
const UNAVAILABLE = { code: 'unavailable', message: socketMessages.unavailable, retry: true } as const

export interface SubscriptionParts extends ResumeParts {
  readonly incarnation: Pick<CurrentIncarnation, 'name' | 'accepts'>
  readonly resumes: Pick<ResumeBudget, 'reserve'>
  readonly memberRoom: MemberRoom
  /** A room's state; null when there is no such room. */
  readonly roomState: (roomId: number) => Promise<RoomState | null>
  readonly onError: (error: unknown) => void
}

type Unsub = Extract<ClientFrame, { t: 'unsub' }>

/** A socket's channels: the user's own and `global` from the start, rooms as the client subscribes. */
export class Subscriptions {
  readonly #userId: number
  readonly #client: Client
  readonly #parts: SubscriptionParts
  readonly #byChannel = new Map<ChannelKey, Subscription>()
  /** The end of what was begun last for each channel; never rejects. */
  readonly #busy = new Map<ChannelKey, Promise<unknown>>()
  #waitTimer: NodeJS.Timeout
  #isEnded = false
  /** While a `sub` is answered: the rooms that the user left, with the positions at which that was delivered. */
  #leftMeanwhile: Map<number, number> | undefined

  constructor(userId: number, client: Client, parts: SubscriptionParts) {
    this.#userId = userId
    this.#client = client
    this.#parts = parts
    const own = userChannel(userId)
    this.#open(own, own)
    this.#waitTimer = this.#startAfterWait(own)
    this.#open('global', 'global').goLive(parts.hub.position)
  }

  /** Whether the client is subscribed to its user's own channel. */
  get hasOwnChannel(): boolean {
    return this.#byChannel.has(userChannel(this.#userId))
  }

  /** Answers each request of the frame; one that is slow, refused or fails affects no other. */
  async subscribe(sub: SubFrame): Promise<void> {
    const { incarnation, resumes } = this.#parts
    const requests = requestsIn(sub, (ledger) => incarnation.accepts(ledger))
    const own = userChannel(this.#userId)
    const namesOwn = requests.some(({ ch }) => ch === own)
    // Nothing newer is sent while the answer waits for the budget.
    if (namesOwn) clearTimeout(this.#waitTimer)
    this.#leftMeanwhile = new Map()
    // The number of frames bounds how many plain ones a client may send.
    const isFree = sub.chs === undefined && requests.every(isPlain)
    const reservations = isFree ? [] : await resumes.reserve(this.#userId, requests.length)
    await Promise.all(requests.map((request, n) => this.#answer(request, reservations[n] ?? unlimited())))
    this.#leftMeanwhile = undefined
    if (namesOwn && this.#byChannel.get(own)?.isLive === false) this.#waitTimer = this.#startAfterWait(own)
  }

  /** Always answers the client. A failure is answered with `retry`. */
  async #answer(request: ChannelRequest, reservation: Reservation): Promise<void> {
    try {
      const access = await accessChannel(request.ch, this.#userId, this.#parts.memberRoom)
      if ('code' in access) this.#refuse(request, access)
      else await this.#inOrder(access.key, () => this.#subscribe(access, request, reservation))
    } catch (error) {
      this.#parts.onError(error)
      this.#refuse(request, UNAVAILABLE)
    } finally {
      reservation.settle()
    }
  }

  async #subscribe({ key, position }: ChannelAccess, request: ChannelRequest, reservation: Reservation): Promise<void> {
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
    const subscription = existing ?? this.#open(key, request.ch)
    subscription.rename(request.ch)
    try {
      if (request.wantsState && roomId !== null) {
        await resumeWithState(subscription, request, () => this.#parts.roomState(roomId), this.#parts, reservation)
      } else {
        await resume(subscription, request, this.#parts, reservation)
      }
    } catch (error) {
      if (existing === undefined) this.#remove(subscription)
      throw error
    }
    const isAnswered = subscription.confirmed === request
    if (subscription.isRemoved && !isAnswered && !this.#isEnded) this.#refuse(request, LEFT_MEANWHILE)
  }

  /**
   * The user is no longer a member of a room as of a position: what came before is sent, except of a backlog that is under
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

  /** Under any name of the channel: a room has its uid and its id. */
  async unsubscribe({ i, ch }: Unsub): Promise<void> {
    try {
      const named = [...this.#byChannel.values()].find(({ name }) => name === ch)
      const access = named?.channel ?? (await accessChannel(ch, this.#userId, this.#parts.memberRoom))
      if ('key' in access) await this.#inOrder(access.key, () => this.#unsubscribe(access.key))
    } catch (error) {
      this.#parts.onError(error)
      return this.#refuse({ i, ch }, UNAVAILABLE)
    }
    this.#client.send({ t: 'unsubbed', i, ch })
  }

  async #unsubscribe(key: ChannelKey): Promise<void> {
    const subscription = this.#byChannel.get(key)
    if (subscription === undefined) return
    subscription.catchUp()
    this.#remove(subscription)
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#waitTimer)
    for (const subscription of this.#byChannel.values()) this.#remove(subscription)
  }

  /** Starts the waiting channel by itself when the client has not asked for it in time. */
  #startAfterWait(own: ChannelKey): NodeJS.Timeout {
    const start = async (): Promise<void> => {
      const subscription = this.#byChannel.get(own)
      if (subscription === undefined || subscription.isLive) return
      await resume(subscription, null, this.#parts, unlimited())
    }
    return setTimeout(() => {
      this.#inOrder(own, start).catch((error: unknown) => {
        this.#parts.onError(error)
        if (!this.#isEnded) this.#waitTimer = this.#startAfterWait(own)
      })
    }, MAX_WAIT_MS)
  }

  /** Works on a channel after all that was begun for it before: a frame may name it twice, and a room by its uid and id. */
  async #inOrder(key: ChannelKey, work: () => Promise<void>): Promise<void> {
    const previous = this.#busy.get(key)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#busy.set(key, ended)
    await previous
    try {
      await work()
    } finally {
      if (this.#busy.get(key) === ended) this.#busy.delete(key)
      end()
    }
  }

  #refuse({ i, ch }: Pick<ChannelRequest, 'i' | 'ch'>, refusal: AccessRefusal): void {
    this.#client.refuse({ i, ch, ...refusal })
  }

  get #roomCount(): number {
    return [...this.#byChannel.keys()].filter((key) => roomIdOf(key) !== null).length
  }

  #open(key: ChannelKey, name: string): Subscription {
    const { hub } = this.#parts
    const subscription = new Subscription(hub, this.#client, hub.acquire(key), name)
    this.#byChannel.set(key, subscription)
    return subscription
  }

  #remove(subscription: Subscription): void {
    const { key } = subscription.channel
    if (this.#byChannel.get(key) === subscription) this.#byChannel.delete(key)
    subscription.remove()
  }
}
