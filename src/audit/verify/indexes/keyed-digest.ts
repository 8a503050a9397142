import { getRandomValues } from 'node:crypto'

/** Random for each run: whoever changes rows cannot choose changes that have no effect on the sums of digests. */
const [keyA = 0, keyB = 0, lastKeyA = 0, lastKeyB = 0] = getRandomValues(new Int32Array(4))
const MULTIPLIER_A = 0x2c1b3c6d
const MULTIPLIER_B = 0x297a2d39
const HIGH_WORD = 2 ** 32

/** A digest, in two words of 32 bits, of the words that are added to it in their order. `finish` ends it. */
export class KeyedDigest {
  a = keyA
  b = keyB

  /** As new. */
  restart(): void {
    this.a = keyA
    this.b = keyB
  }

  /** Adds the lower 32 bits of an integer. */
  add(word: number): void {
    const a = Math.imul(this.a ^ word, MULTIPLIER_A)
    const b = Math.imul(this.b ^ word, MULTIPLIER_B)
    this.a = a ^ (a >>> 15)
    this.b = b ^ (b >>> 13)
  }

  /** Before digests are summed, as the last words only reach a few bits: each then depends on all words and another key. */
  finish(): void {
    this.a = mixBits(this.a ^ lastKeyA)
    this.b = mixBits(this.b ^ lastKeyB)
  }

  /** Adds any integer; a number must be a safe one, a bigint beyond those. */
  addInteger(value: number | bigint): void {
    if (typeof value === 'number') {
      this.add(value)
      this.add(Math.floor(value / HIGH_WORD))
    } else {
      this.add(value < 0n ? -1 : 1)
      for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) this.add(Number(rest & 0xffffffffn))
    }
  }
}

/** The last step of MurmurHash3: every bit of the result depends on every bit of the word. */
function mixBits(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
