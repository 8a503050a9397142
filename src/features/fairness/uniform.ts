import { hmac } from '../../ledger/rules/hash.ts'

/** A drawn number, with the words it was derived from. */
export interface UniformDraw {
  readonly r: number
  /** The 64-bit words that were read, as hex; the last one was used, those before it were rejected. */
  readonly words: readonly string[]
}

const WORDS_PER_MAC = 4
const WORD_RANGE = 1n << 64n

/**
 * A uniformly distributed number from 0 to `size`-1. HMAC-SHA256(key, `<label>|j`) for j = 0, 1, … gives
 * four big-endian 64-bit words each; a word at or above the largest multiple of `size` is rejected, so that the
 * remainder has no bias.
 */
export function uniform(key: Uint8Array, label: string, size: number): UniformDraw {
  const words: string[] = []
  for (let j = 0; ; j += 1) {
    const mac = hmac(key, `${label}|${j}`)
    for (let i = 0; i < WORDS_PER_MAC; i += 1) {
      const word = mac.readBigUInt64BE(i * 8)
      words.push(word.toString(16).padStart(16, '0'))
      const r = reduceWord(word, size)
      if (r !== null) return { r, words }
    }
  }
}

/** The number that a word gives, or null when it is rejected. */
export function reduceWord(word: bigint, size: number): number | null {
  const range = BigInt(size)
  return word < (WORD_RANGE / range) * range ? Number(word % range) : null
}
