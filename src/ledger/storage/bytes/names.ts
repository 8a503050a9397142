import { BASIS, mixed, spread } from './fnv.ts'

/** Names of accounts, actors and types that were read from bytes, each in a place that its bytes lead to. */
const places: (string | undefined)[] = Array.from({ length: 2 ** 18 })
const PLACES = places.length - 1

/** Between these letters of `user:4709:diamonds` stands what tells it from most others. */
const FROM = 4
const TO = 13

/**
 * The text of a name: always the same one as long as no other needs its place, so that it is quickly found in rows.
 * Letter by letter: for the few that a name has, that is quicker than to make a text of it first.
 */
export function nameIn(bytes: Buffer, start: number, length: number): string {
  const to = start + Math.min(TO, length)
  let hash = mixed(mixed(BASIS, bytes[start] ?? 0), bytes[start + length - 1] ?? 0) ^ length
  for (let i = start + FROM; i < to; i += 1) hash = mixed(hash, bytes[i] ?? 0)
  const place = spread(hash) & PLACES
  const name = places[place]
  if (name !== undefined && name.length === length && isAt(name, bytes, start)) return name
  const text = bytes.toString('utf8', start, start + length)
  // Where a letter is not one byte, it would not be found again.
  return text.length === length ? (places[place] = text) : text
}

/** Whether a name of ASCII stands there. */
export function isAt(name: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < name.length; i += 1) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}
