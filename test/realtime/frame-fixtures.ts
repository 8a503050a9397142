import { Value } from '@sinclair/typebox/value'
import { globalEvents, roomEvents, userEvents } from '../../schema/channel-events.ts'
import type { EventType } from '../../schema/events.ts'
import type { Language } from '../../schema/languages.ts'
import type { PositionedEvent } from '../../src/ledger/rules/event.ts'
import type { EventFrame, FrameMapper, Profiles, RequiredIds } from '../../src/realtime/frames/frame-mapper.ts'

/** Users 1 to 3, room 7, gifts 3 and 4, of which 4 has a video, and package 3. */
const profiles: Profiles = {
  users: new Map(
    ['Amina', 'Badr', 'Carmen'].map((name, i) => {
      const avatar = `avatars/${i + 1}.png`
      return [i + 1, { id: i + 1, name, avatar, uid: name.toLowerCase(), picture: `http://assets.test/${avatar}` }]
    }),
  ),
  rooms: new Map([[7, { uid: 'R7', name: 'Lounge' }]]),
  decorations: new Map([
    [3, { name: 'Clover', image_path: 'gifts/clover.png', video_path: null }],
    [4, { name: 'Comet', image_path: 'gifts/comet.png', video_path: 'gifts/comet.mp4' }],
  ]),
  packages: new Map([[3, { name: 'Gold', name_ar: null }]]),
}

/** A frame, and where it goes. */
interface MappedFrame extends Pick<EventFrame, 'channel' | 'event' | 'enc'> {
  readonly data: object
}

/**
 * The frames that a mapper makes of an event with only the profiles that it requires. Throws when a frame's data does
 * not match the schema of its event, or has more fields.
 */
export function framesFrom<T extends EventType>(
  mapper: FrameMapper,
  event: PositionedEvent<T>,
  language: Language = 'en',
): MappedFrame[] {
  const type: T = event.type
  return (mapper[type]?.(event) ?? []).map(({ requiredIds, isLocalized: _isLocalized, data, ...frame }) => {
    // As it is sent: dollars are exact only in JSON.
    const made: object = JSON.parse(JSON.stringify(data(onlyRequired(requiredIds), language)))
    const [kind = ''] = frame.channel.split(':')
    const schema = Object(schemas)[kind]?.[frame.event]
    if (schema === undefined) throw new Error(`${frame.event} has no schema on ${frame.channel}`)
    if (!Value.Check(schema, made)) throw new Error(JSON.stringify([...Value.Errors(schema, made)]))
    if (JSON.stringify(Value.Clean(schema, structuredClone(made))) !== JSON.stringify(made)) {
      throw new Error(`${frame.event} has more fields than its schema: ${JSON.stringify(made)}`)
    }
    return { ...frame, data: made }
  })
}

const schemas = { room: roomEvents, user: userEvents, global: globalEvents }

const onlyRequired = (requiredIds: RequiredIds): Profiles => ({
  users: only(profiles.users, requiredIds.users),
  rooms: only(profiles.rooms, requiredIds.rooms),
  decorations: only(profiles.decorations, requiredIds.decorations),
  packages: only(profiles.packages, requiredIds.packages),
})

const only = <Word>(all: ReadonlyMap<number, Word>, ids: readonly number[] = []): ReadonlyMap<number, Word> =>
  new Map([...all].filter(([id]) => ids.includes(id)))
