import type { Language } from '../../../schema/languages.ts'
import type { FrameTemplate, Profiles } from '../frames/frame-mapper.ts'

/** The text of a frame after the channel's name; by language where it differs. */
export type FrameBody = string | Readonly<Record<Language, string>>

/** What one ledger event puts on one channel. */
export interface ChannelMessage {
  readonly position: number
  /** The position of the channel's previous message; null for its first. */
  readonly prev: number | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** Without the channel's name, so that they are the same under every name of the channel. */
  readonly bodies: readonly FrameBody[]
}

export function channelMessage(
  entry: { readonly position: number; readonly prev: number | null; readonly at: number },
  templates: readonly FrameTemplate[],
  profiles: Profiles,
): ChannelMessage {
  const { position, prev, at } = entry
  const prevJson = prev === null ? 'null' : `"${prev}"`
  const bodies = templates.flatMap(({ event, index, enc, isLocalized, json }): FrameBody[] => {
    const id = `"position":"${position}","prev":${prevJson},"id":"${position}.${index}"`
    const start = `"event":${JSON.stringify(event)},${id},${enc === undefined ? '' : `"enc":"${enc}",`}"data":`
    const en = json(profiles, 'en')
    if (en === undefined) return []
    if (!isLocalized) return [`${start}${en}}`]
    const ar = json(profiles, 'ar')
    return ar === undefined ? [] : [{ en: `${start}${en}}`, ar: `${start}${ar}}` }]
  })
  return { position, prev, at, bodies }
}

/** Roughly the memory of a message, in characters. */
export const messageSize = ({ bodies }: ChannelMessage): number =>
  bodies.reduce((size, body) => size + (typeof body === 'string' ? body.length : body.en.length + body.ar.length), 100)

/** The body of a state frame, which has no place in the channel's history. */
export const stateBody = (event: string, position: number, data: object): string =>
  `"event":${JSON.stringify(event)},"position":"${position}","data":${JSON.stringify(data)}}`

/** The texts of frames under a channel's name, in one language. */
export const frameTexts = (channelName: string, bodies: readonly FrameBody[], language: Language): string[] =>
  bodies.map((body) => frameText(channelName, typeof body === 'string' ? body : body[language]))

/** The whole text of a frame. */
export const frameText = (channelName: string, body: string): string =>
  `{"t":"ev","ch":${JSON.stringify(channelName)},${body}`

/** The part of a backlog that is sent at a time; it takes well under a millisecond. */
const MAX_SLICE_MESSAGES = 100
const MAX_SLICE_CHARACTERS = 64 * 1024

/** How many of these messages are sent at a time: at least one, however long. */
export function sliceLength(messages: readonly ChannelMessage[]): number {
  let count = 0
  let characters = 0
  for (const message of messages) {
    characters += messageSize(message)
    if (count === MAX_SLICE_MESSAGES || (count > 0 && characters > MAX_SLICE_CHARACTERS)) break
    count += 1
  }
  return count
}
