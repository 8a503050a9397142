import type { Kysely } from 'kysely'
import type { Person } from '../../../schema/common.ts'
import type { EventType } from '../../../schema/events.ts'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'

/**
 * Who is told: the members of a room, a user, or everybody. By id: a room stays the same channel when its uid is
 * changed. Clients know the first as `one-to-room:{uid}`.
 */
export type ChannelKey = `room:${number}` | `user:${number}` | 'global'

/** A user's words; `picture` is the avatar's address. */
export interface UserProfile extends Person {
  readonly picture: string
}

/** Words that are looked up when something is announced, since no event holds them. Who was erased is missing. */
export interface Profiles {
  readonly users: ReadonlyMap<number, UserProfile>
  readonly rooms: ReadonlyMap<number, { readonly uid: string; readonly name: string }>
  readonly decorations: ReadonlyMap<number, { readonly name: string; readonly image_path: string }>
  readonly packages: ReadonlyMap<number, { readonly name: string }>
}

/** The ids whose words an announcement needs. */
export type RequiredIds = { readonly [Kind in keyof Profiles]?: readonly number[] }

/** Finds words by ids: once for all that was committed together. */
export type ProfileLookups = {
  readonly [Kind in keyof Profiles]: (db: Kysely<Tables>, ids: readonly number[]) => Promise<Profiles[Kind]>
}

/**
 * What one event tells one channel: a frame of the channel's history, which `since` brings back (on `global` nothing is
 * brought back). Channel, event and number of frames hang on the ledger's event alone, so that every instance tells the
 * same, now and later.
 */
export interface EventFrame {
  readonly channel: ChannelKey
  /** The event's name as clients know it. */
  readonly event: string
  readonly requiredIds: RequiredIds
  /** Set where paths in the data are encoded. */
  readonly enc?: 'rot41'
  /** The frame's `data`. Pure: the same words give the same data. */
  readonly data: (words: Profiles) => object
}

/** What a slice's events tell. Pure. */
export type FrameMapper = {
  readonly [T in EventType]?: (event: PositionedEvent<T>) => readonly EventFrame[]
}

/**
 * State that users are shown as it is now, on their own channel: only the newest, never brought back, without a place
 * in the channel's history.
 */
export interface LiveQuery {
  /** The event's name as clients know it. */
  readonly event: string
  /** The users whose state an event of the ledger may have changed. Pure. */
  readonly changedBy: (event: PositionedEvent) => readonly number[]
  /** The state of these users now. Users who are missing are shown nothing. */
  readonly read: (db: Kysely<Tables>, userIds: readonly number[]) => Promise<ReadonlyMap<number, object>>
}
