import type { EventType } from '../../../schema/events.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Announcement, Announcer, ChannelKey, Wanted, Words } from './announcer.ts'

/** A frame that an event makes. */
export interface Told {
  readonly event: string
  /** Tells it from the others of its event. */
  readonly index: number
  readonly enc: 'rot41' | undefined
  readonly wants: Wanted
  /** The data as JSON; undefined where it could not be made. */
  readonly json: (words: Words) => string | undefined
}

/** What an event tells each channel, from all slices, always in the same order. Never throws. */
export type Tell = (event: PositionedEvent) => ReadonlyMap<ChannelKey, readonly Told[]>

const NOTHING: ReadonlyMap<ChannelKey, readonly Told[]> = new Map()

/** All that the slices have to tell. Where one throws, which is a bug that `bug` hears of, a frame is missing. */
export function tellWith(announcers: readonly Announcer[], bug: (error: unknown, position: number) => void): Tell {
  // Most events tell nobody anything.
  const telling = new Set<string>(announcers.flatMap((announcer) => Object.keys(announcer)))
  return (event) => {
    if (!telling.has(event.type)) return NOTHING
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work()
      } catch (error) {
        bug(error, event.position)
        return undefined
      }
    }
    const announcements = announcers.flatMap((announcer) => attempt(() => announce(announcer, event)) ?? [])
    if (announcements.length === 0) return NOTHING
    const told = new Map<ChannelKey, Told[]>()
    for (const [index, { channel, event, enc, wants, data }] of announcements.entries()) {
      const frame = { event, index, enc, wants, json: (words: Words) => attempt(() => JSON.stringify(data(words))) }
      const others = told.get(channel)
      if (others === undefined) told.set(channel, [frame])
      else others.push(frame)
    }
    return told
  }
}

function announce<T extends EventType>(announcer: Announcer, event: PositionedEvent<T>): readonly Announcement[] {
  const type: T = event.type
  return announcer[type]?.(event) ?? []
}
