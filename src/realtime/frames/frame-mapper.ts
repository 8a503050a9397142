import type { Kysely } from 'kysely'
import type { ChannelEvent, ChannelEventData } from '../../../schema/channel-events.ts'
import type { Person } from '../../../schema/common.ts'
import type { EventType } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredName } from '../../language/names.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'

/**
 * A channel inside the service: a room's members, a user or everyone. By id, since a room's uid may change; clients
 * know a room's channel as `one-to-room:{uid}`.
 */
export type ChannelKey = `room:${number}` | `user:${number}` | 'global'

export const userChannel = (userId: number): ChannelKey => `user:${userId}`
export const roomChannel = (roomId: number): ChannelKey => `room:${roomId}`
/** The room of a channel; null for one that is not of a room. */
export const roomIdOf = (key: ChannelKey): number | null =>
  key.startsWith('room:') ? Number(key.slice('room:'.length)) : null

/** A user as frames show them; `picture` is the avatar's full address. */
interface UserProfile extends Person {
  readonly picture: string
}

/**
 * Names and pictures, which no ledger event has: they are looked up when a frame is built. Erased users are missing.
 */
export interface Profiles {
  readonly users: ReadonlyMap<number, UserProfile>
  readonly rooms: ReadonlyMap<number, { readonly uid: string; readonly name: string }>
  readonly decorations: ReadonlyMap<
    number,
    { readonly name: string; readonly image_path: string; readonly video_path: string | null }
  >
  readonly packages: ReadonlyMap<number, StoredName>
}

/** The ids whose profiles a frame needs. */
export type RequiredIds = { readonly [Kind in keyof Profiles]?: readonly number[] }

/** Reads profiles by id, in one query for all events of a batch. */
export type ProfileLookups = {
  readonly [Kind in keyof Profiles]: (db: Kysely<Tables>, ids: readonly number[]) => Promise<Profiles[Kind]>
}

/** A user's profile; empty fields for an erased user, who still took part. */
export const userProfile = ({ users }: Profiles, id: number): UserProfile =>
  users.get(id) ?? { id, name: '', avatar: '', uid: '', picture: '' }

/**
 * A frame that one ledger event puts on one channel. It belongs to the channel's history, so clients can ask for it with
 * `since` (except frames on `global`). Channel, event name and number of frames depend on the ledger event
 * alone, so every instance produces the same frames, now and later.
 */
export interface EventFrame {
  readonly channel: ChannelKey
  /** The event's name on the wire. */
  readonly event: string
  readonly requiredIds: RequiredIds
  /** Set when the paths in `data` are encoded. */
  readonly enc?: 'rot41'
  /** Set when `data` differs by language; each client gets it in its own. */
  readonly isLocalized?: true
  /** Builds the frame's `data`. Pure: the same profiles and language give the same data. */
  readonly data: (profiles: Profiles, language: Language) => object
}

/** The frames of a slice's events, by event type. Pure. */
export type FrameMapper = {
  readonly [T in EventType]?: (event: PositionedEvent<T>) => readonly EventFrame[]
}

/** An event frame whose data is checked against the documented schema of its event. */
export const eventFrame = <E extends ChannelEvent>(
  channel: ChannelKey,
  event: E,
  requiredIds: RequiredIds,
  data: (profiles: Profiles) => ChannelEventData<E>,
): EventFrame => ({ channel, event, requiredIds, data })

/** As `eventFrame`, for data with sentences. */
export const localizedFrame = <E extends ChannelEvent>(
  channel: ChannelKey,
  event: E,
  requiredIds: RequiredIds,
  data: (profiles: Profiles, language: Language) => ChannelEventData<E>,
): EventFrame => ({ channel, event, requiredIds, isLocalized: true, data })

/**
 * State that users receive on their own channel whenever it changes. Only the newest state is sent; it has no place in
 * the channel's history and is no part of a backlog.
 */
export interface LiveQuery {
  /** The event's name on the wire. */
  readonly event: string
  /** The users whose state a ledger event may have changed. Pure. */
  readonly changedBy: (event: PositionedEvent) => readonly number[]
  /**
   * Reads the current state of these users; addresses of pictures begin with `assetBaseUrl`. Users missing from the
   * result are sent nothing.
   */
  readonly read: (
    db: Kysely<Tables>,
    userIds: readonly number[],
    assetBaseUrl: string,
  ) => Promise<ReadonlyMap<number, object>>
}

/** A frame of an event, before the profiles that its data needs are known. */
export interface FrameTemplate {
  readonly event: string
  /** The frame's place among all frames of its ledger event, from 0. */
  readonly index: number
  readonly enc: 'rot41' | undefined
  readonly requiredIds: RequiredIds
  /** Whether the data differs by language. */
  readonly isLocalized: boolean
  /** The data as JSON; undefined when building it failed. */
  readonly json: (profiles: Profiles, language: Language) => string | undefined
}

/** The frames of a ledger event by channel, from all slices, always in the same order. Never throws. */
export type EventMapper = (event: PositionedEvent) => ReadonlyMap<ChannelKey, readonly FrameTemplate[]>

const NO_FRAMES: ReadonlyMap<ChannelKey, readonly FrameTemplate[]> = new Map()

/** Combines the slices' mappers. When one throws, which is a bug, `onError` is called and its frame is left out. */
export function createEventMapper(
  mappers: readonly FrameMapper[],
  onError: (error: unknown, position: number) => void,
): EventMapper {
  // Most event types have no frames.
  const mappedTypes = new Set<string>(mappers.flatMap((mapper) => Object.keys(mapper)))
  return (event) => {
    if (!mappedTypes.has(event.type)) return NO_FRAMES
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work()
      } catch (error) {
        onError(error, event.position)
        return undefined
      }
    }
    const frames = mappers.flatMap((mapper) => attempt(() => framesOf(mapper, event)) ?? [])
    if (frames.length === 0) return NO_FRAMES
    const byChannel = new Map<ChannelKey, FrameTemplate[]>()
    for (const [index, { channel, event, enc, requiredIds, isLocalized = false, data }] of frames.entries()) {
      const json: FrameTemplate['json'] = (profiles, language) =>
        attempt(() => JSON.stringify(data(profiles, language)))
      const template = { event, index, enc, requiredIds, isLocalized, json }
      const others = byChannel.get(channel)
      if (others === undefined) byChannel.set(channel, [template])
      else others.push(template)
    }
    return byChannel
  }
}

function framesOf<T extends EventType>(mapper: FrameMapper, event: PositionedEvent<T>): readonly EventFrame[] {
  const type: T = event.type
  return mapper[type]?.(event) ?? []
}
