import { fnv1a, foldUpperBits, OFFSET_BASIS } from './fnv.ts'

/** Names of accounts, actors and types that were read from bytes, each in a place that its bytes lead to. */
const slots: (string | undefined)[] = Array.from({ length: 2 ** 18 })
const SLOT_MASK = slots.length - 1

/** Between these letters of `user:4709:diamonds` stands what tells it from most others. */
const HASHED_FROM = 4
const HASHED_TO = 13

/**
 * The text of a name: always the same one as long as no other needs its place, so that it is quickly found in rows.
 * Letter by letter: for the few that a name has, that is quicker than to make a text of it first.
 */
export function internName(bytes: Buffer, start: number, length: number): string {
  const to = start + Math.min(HASHED_TO, length)
  let hash = fnv1a(fnv1a(OFFSET_BASIS, bytes[start] ?? 0), bytes[start + length - 1] ?? 0) ^ length
  for (let i = start + HASHED_FROM; i < to; i += 1) hash = fnv1a(hash, bytes[i] ?? 0)
  const place = foldUpperBits(hash) & SLOT_MASK
  const name = slots[place]
  if (name !== undefined && name.length === length && equalsAt(name, bytes, start)) return name
  const text = bytes.toString('utf8', start, start + length)
  // Where a letter is not one byte, it would not be found again.
  return text.length === length ? (slots[place] = text) : text
}

/** Whether a name of ASCII stands there. */
export function equalsAt(name: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < name.length; i += 1) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}
