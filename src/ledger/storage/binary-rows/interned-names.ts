import { fnv1a, foldUpperBits, OFFSET_BASIS } from '../bytes/fnv.ts'

/** A cache of names of accounts, actors and types, each in the slot that its bytes hash to. */
const slots: (string | undefined)[] = Array.from({ length: 2 ** 18 })
const SLOT_MASK = slots.length - 1

/** The characters of `user:4709:diamonds` that distinguish it from most others. */
const HASHED_FROM = 4
const HASHED_TO = 13

/**
 * The name in the buffer as a string, the same object each time as long as no other name takes its slot, so that map
 * lookups by it are fast. Compares bytes one by one, which is faster for short names than decoding them first.
 */
export function internName(bytes: Buffer, start: number, length: number): string {
  const to = start + Math.min(HASHED_TO, length)
  let hash = fnv1a(fnv1a(OFFSET_BASIS, bytes[start] ?? 0), bytes[start + length - 1] ?? 0) ^ length
  for (let i = start + HASHED_FROM; i < to; i += 1) hash = fnv1a(hash, bytes[i] ?? 0)
  const slot = foldUpperBits(hash) & SLOT_MASK
  const name = slots[slot]
  if (name !== undefined && name.length === length && equalsAt(name, bytes, start)) return name
  const text = bytes.toString('utf8', start, start + length)
  // Only ASCII is cached: `equalsAt` compares characters with bytes.
  return text.length === length ? (slots[slot] = text) : text
}

/** Whether the buffer has this ASCII name at `start`. */
export function equalsAt(name: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < name.length; i += 1) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}
