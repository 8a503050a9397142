import type { Words } from '../frames/announcer.ts'
import type { Told } from '../frames/event-mapper.ts'

/** What one event of the ledger told one channel. */
export interface Entry {
  readonly position: number
  /** The position of the channel's entry before this one; null for its first. */
  readonly prev: number | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** The frames' texts behind the channel's name: the same under whatever name the channel goes. */
  readonly bodies: readonly string[]
}

export function entryOf(
  place: { readonly position: number; readonly prev: number | null; readonly at: number },
  told: readonly Told[],
  words: Words,
): Entry {
  const { position, prev, at } = place
  const before = prev === null ? 'null' : `"${prev}"`
  const bodies = told.flatMap(({ event, index, enc, json }) => {
    const data = json(words)
    if (data === undefined) return []
    const id = `"position":"${position}","prev":${before},"id":"${position}.${index}"`
    return `"event":${JSON.stringify(event)},${id},${enc === undefined ? '' : `"enc":"${enc}",`}"data":${data}}`
  })
  return { position, prev, at, bodies }
}

/** About how much memory it takes, in characters. */
export const sizeOf = ({ bodies }: Entry): number => bodies.reduce((size, body) => size + body.length, 100)

/** As a frame of an entry, for state, which has no place in its channel's history. */
export const stateBody = (event: string, position: number, data: object): string =>
  `"event":${JSON.stringify(event)},"position":"${position}","data":${JSON.stringify(data)}}`

/** A frame's whole text. */
export const inChannel = (name: string, body: string): string => `{"t":"ev","ch":${JSON.stringify(name)},${body}`
