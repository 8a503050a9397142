import { getRandomValues } from 'node:crypto'

/** Random for each run, so that no wrong row can be made to have the digest of the right one. */
const [keyA = 0, keyB = 0] = getRandomValues(new Int32Array(2))
const MULTIPLIER_A = 0x2c1b3c6d
const MULTIPLIER_B = 0x297a2d39
const HIGH_WORD = 2 ** 32

/** A digest, in two words of 32 bits, of the words that are added to it in their order. */
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
