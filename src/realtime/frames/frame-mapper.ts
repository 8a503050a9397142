import type { ChannelEvent, ChannelEventData } from '../../../schema/channel-events.ts'
import type { EventType } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ChannelKey } from '../channels/channel-names.ts'
import type { Profiles, RequiredIds } from './profiles.ts'

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
