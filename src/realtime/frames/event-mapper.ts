import type { EventType } from '../../../schema/events.ts'
import type { Language } from '../../../schema/languages.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ChannelKey } from '../channels/channel-names.ts'
import type { EventFrame, FrameMapper } from './frame-mapper.ts'
import type { Profiles, RequiredIds } from './profiles.ts'

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
