import { headerBytes, payloadBytes } from './raw-frames.ts'

/** Splits what a server sends into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Calls `onFrame` with the opcode of each frame that is complete, and with where its payload is in `bytes`. */
  read(chunk: Buffer, onFrame: (opcode: number, bytes: Buffer, start: number, end: number) => void): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= 2) {
      const headerLength = headerBytes(bytes[at + 1] ?? 0)
      if (bytes.length - at < headerLength) break
      const start = at + headerLength
      const end = start + payloadBytes(bytes, at)
      if (bytes.length < end) break
      onFrame((bytes[at] ?? 0) & 0x0f, bytes, start, end)
      at = end
    }
    this.#rest = bytes.subarray(at)
  }
}
