import type { FrameTemplate } from '../frames/event-mapper.ts'
import type { Profiles } from '../frames/frame-mapper.ts'

/** What one event of the ledger told one channel. */
export interface ChannelMessage {
  readonly position: number
  /** The position of the channel's entry before this one; null for its first. */
  readonly prev: number | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** The frames' texts behind the channel's name: the same under whatever name the channel goes. */
  readonly bodies: readonly string[]
}

export function channelMessage(
  place: { readonly position: number; readonly prev: number | null; readonly at: number },
  templates: readonly FrameTemplate[],
  profiles: Profiles,
): ChannelMessage {
  const { position, prev, at } = place
  const before = prev === null ? 'null' : `"${prev}"`
  const bodies = templates.flatMap(({ event, index, enc, json }) => {
    const data = json(profiles)
    if (data === undefined) return []
    const id = `"position":"${position}","prev":${before},"id":"${position}.${index}"`
    return `"event":${JSON.stringify(event)},${id},${enc === undefined ? '' : `"enc":"${enc}",`}"data":${data}}`
  })
  return { position, prev, at, bodies }
}

/** About how much memory it takes, in characters. */
export const messageSize = ({ bodies }: ChannelMessage): number =>
  bodies.reduce((size, body) => size + body.length, 100)

/** As a frame of an entry, for state, which has no place in its channel's history. */
export const stateBody = (event: string, position: number, data: object): string =>
  `"event":${JSON.stringify(event)},"position":"${position}","data":${JSON.stringify(data)}}`

/** A frame's whole text. */
export const frameText = (name: string, body: string): string => `{"t":"ev","ch":${JSON.stringify(name)},${body}`
