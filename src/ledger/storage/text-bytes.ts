/** How the names of dollar accounts, of either wallet, end, and how those of games begin. */
const DOLLAR_SUFFIX = 'dollars'
const GAME_PREFIX = 'game:'

/**
 * Whether evolvers may read the balance of an account: dollars may have holds, and a game has its players' stakes. A
 * replay may keep all other balances outside its state, where they are cheaper.
 */
export const isReadByEvolvers = (name: string): boolean => name.endsWith(DOLLAR_SUFFIX) || name.startsWith(GAME_PREFIX)

/** Up to this length a loop is faster than a native copy. */
const MAX_LOOP_BYTES = 28
const ZERO = '0'.charCodeAt(0)
const HEX = new TextEncoder().encode('0123456789abcdef')

/** Builds UTF-8 text piece by piece in a buffer that is used again for the next text. */
export class Utf8Builder {
  #bytes = Buffer.alloc(16_384)
  #length = 0

  /** The text so far; valid until `clear`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
  }

  /** Appends one ASCII character. */
  appendByte(code: number): void {
    this.#reserve(1)
    this.#bytes[this.#length - 1] = code
  }

  /** As `appendAscii(String(value))`, without a string for numbers of up to 31 bits. */
  appendNumber(value: number): void {
    let rest = value | 0
    if (rest !== value || rest < 0) return this.appendAscii(String(value))
    let digits = 1
    for (let least = 10; rest >= least && digits < 10; least *= 10) digits += 1
    const from = this.#reserve(digits)
    const bytes = this.#bytes
    for (let i = digits - 1; i >= 0; i -= 1) {
      const next = (rest / 10) | 0
      bytes[from + i] = ZERO + rest - next * 10
      rest = next
    }
  }

  /** Appends text that is ASCII only. */
  appendAscii(text: string): void {
    const to = this.#reserve(text.length)
    const bytes = this.#bytes
    if (text.length > MAX_LOOP_BYTES) bytes.write(text, to, 'latin1')
    else for (let i = 0; i < text.length; i += 1) bytes[to + i] = text.charCodeAt(i)
  }

  /** Appends bytes of another buffer. */
  appendBytes(text: Buffer, start: number, length: number): void {
    const to = this.#reserve(length)
    const bytes = this.#bytes
    if (length > MAX_LOOP_BYTES) text.copy(bytes, to, start, start + length)
    else for (let i = 0; i < length; i += 1) bytes[to + i] = text[start + i] ?? 0
  }

  /** Appends bytes as lower-case hexadecimal digits. */
  appendHex(from: Buffer, start: number, length: number): void {
    const to = this.#reserve(length * 2)
    const bytes = this.#bytes
    for (let i = 0; i < length; i += 1) {
      const byte = from[start + i] ?? 0
      bytes[to + 2 * i] = HEX[byte >> 4] ?? 0
      bytes[to + 2 * i + 1] = HEX[byte & 15] ?? 0
    }
  }

  /** Makes room for this many more bytes and returns where it begins. */
  #reserve(length: number): number {
    const from = this.#length
    this.#length = from + length
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.alloc(this.#length * 2)
      this.#bytes.copy(larger, 0, 0, from)
      this.#bytes = larger
    }
    return from
  }
}
