/** Lengths in a frame's second byte that say how many bytes hold the real one. */
const EXTENDED_LENGTHS: ReadonlyMap<number, number> = new Map([
  [126, 2],
  [127, 8],
])
const MASK_BYTES = 4

export const CLOSE = 0x8
export const PONG = 0xa

/**
 * Finds the frames in what a client sends (RFC 6455, 5.2). `ws` tells of whole messages, pings and pongs only, so that
 * empty fragments could be sent without end.
 */
export class FrameScanner {
  readonly #onFrame: (opcode: number) => boolean
  #opcode: number | undefined
  /** Bytes of the extended length that are still to come. */
  #lengthBytes = 0
  #length = 0
  #maskBytes = 0
  /** Bytes of mask and payload that are still to come. */
  #rest = 0

  /** `frame` hears of each frame once its header's first two bytes are there; false ends the scan. */
  constructor(frame: (opcode: number) => boolean) {
    this.#onFrame = frame
  }

  /** What came next. False when the scan was ended. */
  scan(chunk: Buffer): boolean {
    let at = 0
    while (at < chunk.length) {
      if (this.#rest > 0) {
        const skipped = Math.min(this.#rest, chunk.length - at)
        this.#rest -= skipped
        at += skipped
        continue
      }
      const byte = chunk[at] ?? 0
      at += 1
      if (this.#lengthBytes > 0) this.#extendLength(byte)
      else if (this.#opcode === undefined) this.#opcode = byte & 0x0f
      else if (!this.#begin(this.#opcode, byte)) return false
    }
    return true
  }

  #begin(opcode: number, second: number): boolean {
    this.#opcode = undefined
    const length = second & 0x7f
    this.#maskBytes = second & 0x80 ? MASK_BYTES : 0
    this.#lengthBytes = EXTENDED_LENGTHS.get(length) ?? 0
    this.#length = 0
    if (this.#lengthBytes === 0) this.#rest = this.#maskBytes + length
    return this.#onFrame(opcode)
  }

  #extendLength(byte: number): void {
    this.#length = this.#length * 256 + byte
    this.#lengthBytes -= 1
    if (this.#lengthBytes === 0) this.#rest = this.#maskBytes + this.#length
  }
}
