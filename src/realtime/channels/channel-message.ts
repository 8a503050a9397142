import type { FrameTemplate } from '../frames/event-mapper.ts'
import type { Profiles } from '../frames/profiles.ts'

/** What one ledger event puts on one channel. */
export interface ChannelMessage {
  readonly position: number
  /** The position of the channel's previous message; null for its first. */
  readonly prev: number | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** The frames' texts after the channel's name, so that they are the same under every name of the channel. */
  readonly bodies: readonly string[]
}

export function channelMessage(
  entry: { readonly position: number; readonly prev: number | null; readonly at: number },
  templates: readonly FrameTemplate[],
  profiles: Profiles,
): ChannelMessage {
  const { position, prev, at } = entry
  const prevJson = prev === null ? 'null' : `"${prev}"`
  const bodies = templates.flatMap(({ event, index, enc, json }) => {
    const data = json(profiles)
    if (data === undefined) return []
    const id = `"position":"${position}","prev":${prevJson},"id":"${position}.${index}"`
    return `"event":${JSON.stringify(event)},${id},${enc === undefined ? '' : `"enc":"${enc}",`}"data":${data}}`
  })
  return { position, prev, at, bodies }
}

/** Roughly the memory of a message, in characters. */
export const messageSize = ({ bodies }: ChannelMessage): number =>
  bodies.reduce((size, body) => size + body.length, 100)

/** The body of a state frame, which has no place in the channel's history. */
export const stateBody = (event: string, position: number, data: object): string =>
  `"event":${JSON.stringify(event)},"position":"${position}","data":${JSON.stringify(data)}}`

/** The whole text of a frame. */
export const frameText = (channelName: string, body: string): string =>
  `{"t":"ev","ch":${JSON.stringify(channelName)},${body}`
