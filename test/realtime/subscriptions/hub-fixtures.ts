import { setImmediate as turn } from 'node:timers/promises'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { Hub, type HubParts } from '../../../src/realtime/channels/hub.ts'
import { ResumeBudget } from '../../../src/realtime/channels/resume-budget.ts'
import { type ChannelKey, createEventMapper } from '../../../src/realtime/frames/frame-mapper.ts'
import type { Client } from '../../../src/realtime/sockets/client.ts'
import type { MemberOf } from '../../../src/realtime/subscriptions/channel-access.ts'
import { type SubscriptionParts, Subscriptions } from '../../../src/realtime/subscriptions/subscriptions.ts'
import { TimeSlice } from '../../../src/realtime/time-slice.ts'
import { chatSlices, giftToRoom } from '../../harness/app/realtime-fixtures.ts'
import { currentIncarnation } from '../../harness/ledger/given-when.ts'
import { DEADLINE_MS } from '../../harness/until.ts'
import { headerBytes, payloadBytes } from '../../harness/websocket/raw-frames.ts'

export const NO_PROFILES = { users: new Map(), rooms: new Map(), decorations: new Map(), packages: new Map() }

export const mapEvent = createEventMapper(
  chatSlices.flatMap(({ frameMapper = [] }) => frameMapper),
  (error) => {
    throw error
  },
)

export const roomEvent = (position: number, n = 1, room = 1): PositionedEvent => ({
  ...giftToRoom(room, n),
  position,
  at: Date.now() * 1000,
})

/** The membership in the room R1, R2 …, from the beginning. */
export const memberOf = (uid: string): MemberOf => ({ roomId: Number(uid.slice(1)), position: 0 })

/** Answers about each channel by itself. */
export const forEach =
  <Value>(valueOf: (channel: ChannelKey) => Value) =>
  async (channels: readonly ChannelKey[]): Promise<ReadonlyMap<ChannelKey, Value>> =>
    new Map(channels.map((channel) => [channel, valueOf(channel)]))

/** Reads backlogs without messages. */
export const readNothing = forEach(() => ({ from: 0, messages: [] }))

interface FakeParts extends Partial<Pick<HubParts, 'head' | 'onMemberLeft' | 'profiles'>> {
  readonly backlogs?: Partial<HubParts['backlogs']>
}

/** A hub with a subscribed channel, so that all its events can be replayed from memory. */
export function openHub({ backlogs = {}, ...parts }: FakeParts = {}) {
  const hub: Hub = new Hub(
    {
      mapEvent,
      profiles: { get: async () => NO_PROFILES },
      backlogs: { lastBefore: forEach(() => null), read: readNothing, ...backlogs },
      head: async () => hub.position,
      onMemberLeft: () => {},
      onSent: () => {},
      onFlushed: () => {},
      ...parts,
    },
    0,
  )
  const referencesOf = (key: ChannelKey): number => {
    const channel = hub.acquire(key)
    hub.release(channel)
    return channel.references
  }
  hub.acquire('room:1')
  return { hub, referencesOf }
}

/** A client: the frames sent to it, and how many were sent in each part of a replay. */
export function openClient(hub: Hub, parts: Partial<Omit<SubscriptionParts, 'hub'>> = {}) {
  const frames: {
    readonly t: string
    readonly ch: string
    readonly position: string
    readonly prev?: string | null
    readonly i?: unknown
    readonly code?: string
    readonly retry?: boolean
    readonly resumed?: boolean
    readonly state?: { readonly id: number; readonly trophy_points: number }
  }[] = []
  /** The events of each part of a replay. */
  const replayed: number[] = []
  const closed: number[] = []
  const read = (bytes: Buffer): number => {
    let events = 0
    for (let at = 0; at < bytes.length; ) {
      const start = at + headerBytes(bytes[at + 1] ?? 0)
      const end = start + payloadBytes(bytes, at)
      const frame = JSON.parse(bytes.toString('utf8', start, end))
      frames.push(frame)
      if (frame.t === 'ev') events += 1
      at = end
    }
    return events
  }
  const client: Client = {
    send: (frame) => frames.push(JSON.parse(JSON.stringify(frame))),
    language: 'en',
    push: read,
    pushBacklog: (bytes) => void replayed.push(read(bytes)),
    drained: async () => {},
    refuse: (refusal) => frames.push({ t: 'err', position: '', ...refusal }),
    close: (code) => {
      closed.push(code)
      subscriptions.end()
    },
  }
  const subscriptions = new Subscriptions(1, client, {
    hub,
    // So short that each part of a replay takes a turn of its own.
    timeSlice: new TimeSlice(0),
    resumes: new ResumeBudget(),
    memberRoom: async (uid) => memberOf(uid),
    roomState: async () => null,
    incarnation: currentIncarnation(),
    onError: (error) => {
      throw error
    },
    ...parts,
  })
  const positions = (channel: string) =>
    frames.filter(({ t, ch }) => t === 'ev' && ch === channel).map(({ position }) => Number(position))
  return { subscriptions, client, frames, positions, replayed, closed }
}

/** Checks in each turn of the event loop, since a replay takes only some of them. */
export async function turnsUntil(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`did not happen: ${String(holds)}`)
    await turn()
  }
}

export const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
