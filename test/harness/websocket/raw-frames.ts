/** The parts of RFC 6455 that clients on a plain socket share. Cheap, so that a bench measures mostly the server. */

export const upgradeRequest = (port: number, path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
  `Authorization: Bearer ${token}\r\nSec-WebSocket-Version: 13\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

export const TEXT_FRAME = 0x81
export const PONG_FRAME = 0x8a

/** A client's frame of less than 64 KiB, with a mask of zeros. */
export function maskedFrame(firstByte: number, payload: string): Buffer {
  const bytes = Buffer.from(payload)
  const { length } = bytes
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([firstByte, ...size, 0, 0, 0, 0]), bytes])
}

/** Length of the header of a server's frame, by its second byte. Frames of 64 KiB and more are not supported. */
export const headerBytes = (secondByte: number): 2 | 4 => (secondByte < 126 ? 2 : 4)

/** Length of the payload of a frame whose header is complete. */
export const payloadBytes = (bytes: Buffer, at = 0): number => {
  const short = bytes[at + 1] ?? 0
  return short < 126 ? short : bytes.readUInt16BE(at + 2)
}

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
