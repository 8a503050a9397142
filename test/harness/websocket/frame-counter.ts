import { connect, type Socket } from 'node:net'

/** The parts of RFC 6455 that a client needs who counts: so cheap that it is the servers that are measured. */
export class RawClient {
  readonly #socket: Socket
  /** Bytes of a frame's header, as far as they came. */
  #header = Buffer.alloc(0)
  #skip = 0

  /** `opened` is called with the first bytes after the handshake, and `counted` with how many frames ended. */
  constructor(
    port: number,
    path: string,
    token: string,
    first: string,
    until: string,
    counted: (frames: number) => void,
  ) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.ready = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Authorization: Bearer ${token}\r\nSec-WebSocket-Version: 13\r\n` +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      let opening = ''
      const open = (chunk: Buffer): void => {
        const before = opening
        opening += chunk.toString('latin1')
        if (!before.includes('\r\n\r\n') && opening.includes('\r\n\r\n')) {
          if (!opening.startsWith('HTTP/1.1 101')) reject(new Error(opening))
          if (first !== '') this.#socket.write(masked(first))
        }
        if (!opening.includes(until)) return
        this.#socket.off('data', open)
        // Frames begin behind the handshake; none of them is counted so far.
        this.#count(Buffer.from(opening.slice(opening.indexOf('\r\n\r\n') + 4), 'latin1'))
        this.#socket.on('data', (data) => {
          const frames = this.#count(data)
          if (frames > 0) counted(frames)
        })
        resolve()
      }
      this.#socket.on('data', open)
    })
  }

  readonly ready: Promise<void>

  /** How many frames end in this chunk. */
  #count(chunk: Buffer): number {
    let frames = 0
    let at = 0
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, chunk.length - at)
        this.#skip -= step
        at += step
        if (this.#skip === 0) frames += 1
        continue
      }
      const header =
        this.#header.length === 0
          ? chunk.subarray(at, at + 4)
          : Buffer.concat([this.#header, chunk.subarray(at, at + 4 - this.#header.length)])
      const short = (header[1] ?? 0) < 126
      if (header.length < 2 || (!short && header.length < 4)) {
        this.#header = Buffer.from(header)
        return frames
      }
      at += (short ? 2 : 4) - this.#header.length
      this.#header = Buffer.alloc(0)
      this.#skip = short ? (header[1] ?? 0) : header.readUInt16BE(2)
      if (this.#skip === 0) frames += 1
    }
    return frames
  }
}

/** A text frame of a client, with a mask that changes nothing. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
