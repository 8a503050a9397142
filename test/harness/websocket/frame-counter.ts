import { connect, type Socket } from 'node:net'
import { headerBytes, maskedFrame, payloadBytes, TEXT_FRAME, upgradeRequest } from './raw-frames.ts'

/** A WebSocket client that only counts frames, without reading them. */
export class FrameCounter {
  readonly #socket: Socket
  /** The first bytes of an incomplete header. */
  #header = Buffer.alloc(0)
  /** Bytes left of the present frame. */
  #skip = 0

  /** Sends `first` once connected. After `until` was received it is ready, and `onFrames` gets the number of new frames. */
  constructor(
    port: number,
    path: string,
    token: string,
    first: string,
    until: string,
    onFrames: (frames: number) => void,
  ) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.ready = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.write(upgradeRequest(port, path, token))
      let opening = ''
      const open = (chunk: Buffer): void => {
        const before = opening
        opening += chunk.toString('latin1')
        if (!before.includes('\r\n\r\n') && opening.includes('\r\n\r\n')) {
          if (!opening.startsWith('HTTP/1.1 101')) reject(new Error(opening))
          if (first !== '') this.#socket.write(maskedFrame(TEXT_FRAME, first))
        }
        if (!opening.includes(until)) return
        this.#socket.off('data', open)
        // Frames start after the handshake; those received so far are skipped.
        this.#count(Buffer.from(opening.slice(opening.indexOf('\r\n\r\n') + 4), 'latin1'))
        this.#socket.on('data', (data) => {
          const frames = this.#count(data)
          if (frames > 0) onFrames(frames)
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
      const needed = headerBytes(header[1] ?? 0)
      if (header.length < needed) {
        this.#header = Buffer.from(header)
        return frames
      }
      at += needed - this.#header.length
      this.#header = Buffer.alloc(0)
      this.#skip = payloadBytes(header)
      if (this.#skip === 0) frames += 1
    }
    return frames
  }
}
