/** The longest frame that is accepted: an answer of an operator's route, with every character escaped, is below it. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024
/** Messages are put into one frame up to about this length. */
export const FRAME_LENGTH = 1024 * 1024

const HEADER_BYTES = 4

/** A frame: the length of what follows, as four bytes, then JSON. */
export function encodeFrame(json: string): Buffer {
  const length = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length)
  frame.writeUInt32BE(length)
  frame.write(json, HEADER_BYTES)
  return frame
}

/** Joins JSON texts into frames `{"<name>":[…]}`, each of about `FRAME_LENGTH` or of one text. */
export function* encodeList(name: string, texts: readonly string[]): Generator<Buffer> {
  let start = 0
  let length = 0
  for (const [i, text] of texts.entries()) {
    if (i > start && length + text.length > FRAME_LENGTH) {
      yield encodeFrame(`{"${name}":[${texts.slice(start, i).join(',')}]}`)
      start = i
      length = 0
    }
    length += text.length
  }
  if (start < texts.length) yield encodeFrame(`{"${name}":[${texts.slice(start).join(',')}]}`)
}

/** Puts the chunks of a connection together into frames. */
export class FrameReader {
  readonly #maxBytes: () => number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes until the next frame can be read. */
  #needed = HEADER_BYTES

  /** `maxBytes` of a frame, asked for each. */
  constructor(maxBytes = () => MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** The messages that a chunk completes. Throws when a frame is too long or is not JSON. */
  *read(chunk: Buffer): Generator {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    this.#chunks = []
    let start = 0
    for (;;) {
      const left = bytes.length - start
      const length = left < HEADER_BYTES ? 0 : bytes.readUInt32BE(start)
      if (length > this.#maxBytes()) throw new Error(`a frame of ${length} bytes is too long`)
      this.#needed = HEADER_BYTES + length
      if (left < this.#needed) break
      const end = start + this.#needed
      yield JSON.parse(bytes.toString('utf8', start + HEADER_BYTES, end))
      start = end
    }
    this.#bytes = bytes.length - start
    if (this.#bytes > 0) this.#chunks.push(bytes.subarray(start))
  }
}
