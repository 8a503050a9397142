import { Value } from '@sinclair/typebox/value'
import { globalEvents, roomEvents, userEvents } from '../../schema/channel-events.ts'
import type { EventType } from '../../schema/events.ts'
import type { PositionedEvent } from '../../src/ledger/rules/event.ts'
import type { EventFrame, FrameMapper } from '../../src/realtime/frames/frame-mapper.ts'
import type { Profiles, RequiredIds } from '../../src/realtime/frames/profiles.ts'

/** Users 1 to 3, room 7, gift 3 and package 3. */
export const profiles: Profiles = {
  users: new Map(
    ['Amina', 'Badr', 'Carmen'].map((name, i) => {
      const avatar = `avatars/${i + 1}.png`
      return [i + 1, { id: i + 1, name, avatar, uid: name.toLowerCase(), picture: `http://assets.test/${avatar}` }]
    }),
  ),
  rooms: new Map([[7, { uid: 'R7', name: 'Lounge' }]]),
  decorations: new Map([[3, { name: 'Clover', image_path: 'gifts/clover.png' }]]),
  packages: new Map([[3, { name: 'Gold' }]]),
}

/** A frame, and where it goes. */
export interface MappedFrame extends Pick<EventFrame, 'channel' | 'event' | 'enc'> {
  readonly data: object
}

/**
 * What an mapper says of an event with only the words that it asked for. Throws when that is not of the form which
 * the documents tell of that channel, or has anything beyond it.
 */
export function framesFrom<T extends EventType>(mapper: FrameMapper, event: PositionedEvent<T>): MappedFrame[] {
  const type: T = event.type
  return (mapper[type]?.(event) ?? []).map(({ requiredIds: wants, data, ...frame }) => {
    // As it is sent: dollars are exact only in JSON.
    const made: object = JSON.parse(JSON.stringify(data(onlyRequired(wants))))
    const [kind = ''] = frame.channel.split(':')
    const schema = Object(schemas)[kind]?.[frame.event]
    if (schema === undefined) throw new Error(`${frame.event} is told to ${frame.channel}`)
    if (!Value.Check(schema, made)) throw new Error(JSON.stringify([...Value.Errors(schema, made)]))
    if (JSON.stringify(Value.Clean(schema, structuredClone(made))) !== JSON.stringify(made)) {
      throw new Error(`${frame.event} says more than is told: ${JSON.stringify(made)}`)
    }
    return { ...frame, data: made }
  })
}

const schemas = { room: roomEvents, user: userEvents, global: globalEvents }

const onlyRequired = (wants: RequiredIds): Profiles => ({
  users: only(profiles.users, wants.users),
  rooms: only(profiles.rooms, wants.rooms),
  decorations: only(profiles.decorations, wants.decorations),
  packages: only(profiles.packages, wants.packages),
})

const only = <Word>(all: ReadonlyMap<number, Word>, ids: readonly number[] = []): ReadonlyMap<number, Word> =>
  new Map([...all].filter(([id]) => ids.includes(id)))
