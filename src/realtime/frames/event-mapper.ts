import type { EventType } from '../../../schema/events.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ChannelKey, EventFrame, FrameMapper, Profiles, RequiredIds } from './frame-mapper.ts'

/** A frame that an event makes. */
export interface FrameTemplate {
  readonly event: string
  /** Tells it from the others of its event. */
  readonly index: number
  readonly enc: 'rot41' | undefined
  readonly requiredIds: RequiredIds
  /** The data as JSON; undefined where it could not be made. */
  readonly json: (words: Profiles) => string | undefined
}

/** What an event tells each channel, from all slices, always in the same order. Never throws. */
export type EventMapper = (event: PositionedEvent) => ReadonlyMap<ChannelKey, readonly FrameTemplate[]>

const NO_FRAMES: ReadonlyMap<ChannelKey, readonly FrameTemplate[]> = new Map()

/** All that the slices have to tell. Where one throws, which is a bug that `bug` hears of, a frame is missing. */
export function createEventMapper(
  mappers: readonly FrameMapper[],
  onError: (error: unknown, position: number) => void,
): EventMapper {
  // Most events tell nobody anything.
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
    for (const [index, { channel, event, enc, requiredIds, data }] of frames.entries()) {
      const frame = {
        event,
        index,
        enc,
        requiredIds,
        json: (words: Profiles) => attempt(() => JSON.stringify(data(words))),
      }
      const others = byChannel.get(channel)
      if (others === undefined) byChannel.set(channel, [frame])
      else others.push(frame)
    }
    return byChannel
  }
}

function framesOf<T extends EventType>(mapper: FrameMapper, event: PositionedEvent<T>): readonly EventFrame[] {
  const type: T = event.type
  return mapper[type]?.(event) ?? []
}
