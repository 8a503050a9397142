import { randomInt } from 'node:crypto'

/** Levels of a large body; the documented ones have at most five. */
const MAX_DEPTH = 64
/** Different field names in a large body; no schema has more than thirty. */
const MAX_NAMES = 1_000

/** Objects and lists in a large body; the longest that is documented, agents' countries, has 62,000. */
const MAX_STRUCTURES = 100_000

/** Texts in a large body, without field names; a thousand users or deposits, the longest documented, have 6,000. */
const MAX_TEXTS = 20_000

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d]

/** For hashing names. Odd, and random so that clients cannot construct names that share a hash. */
const HASH_FACTOR = 2 * randomInt(2 ** 20, 2 ** 31) + 1

/**
 * Whether JSON text looks like data: not endlessly nested, and not full of distinct field names, empty objects or short
 * texts. V8 takes far longer to parse such text than this scan.
 */
export function hasPlausibleShape(json: Uint8Array): boolean {
  /** Hashes of names; two names with the same hash count as one. */
  const names = new Set<number>()
  let depth = 0
  let structures = 0
  let texts = 0
  let text = 0
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i]
    if (byte === QUOTE) {
      text = 0
      for (i += 1; i < json.length && json[i] !== QUOTE; i += 1) {
        if (json[i] === BACKSLASH) i += 1
        text = Math.imul(text ^ (json[i] ?? 0), HASH_FACTOR)
        text ^= text >>> 15
      }
      // A name is subtracted again at its colon.
      texts += 1
      if (texts > MAX_TEXTS + 1) return false
    } else if (byte === COLON) {
      texts -= 1
      names.add(text)
      if (names.size > MAX_NAMES) return false
    } else if (byte === BRACE || byte === BRACKET) {
      depth += 1
      structures += 1
      if (depth > MAX_DEPTH || structures > MAX_STRUCTURES) return false
    } else if (byte === END_BRACE || byte === END_BRACKET) {
      depth -= 1
    }
  }
  return true
}
