import { connect, type Socket } from 'node:net'

/** What one socket heard: how many frames of the room, up to where, and whether in order. */
export interface Heard {
  frames: number
  last: number
  /** Of positions: two sockets that heard the same have the same. */
  sum: number
  faults: number
  /** The code of a close frame; null while there was none. */
  code: number | null
}

/** A websocket client that costs little, so that thousands fit beside the service: it reads only where events stand. */
export class CountingClient {
  readonly heard: Heard = { frames: 0, last: 0, sum: 0, faults: 0, code: null }
  readonly ready: Promise<void>
  readonly #socket: Socket
  readonly #onEvent: (position: number) => void
  #rest: Buffer = Buffer.alloc(0)

  /** `arrived` is called for each event of the room's history. */
  constructor(port: number, token: string, room: string, onEvent: (position: number) => void) {
    this.#onEvent = onEvent
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.ready = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.write(
        `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          `Authorization: Bearer ${token}\r\nSec-WebSocket-Version: 13\r\n` +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      let opened = false
      this.#socket.on('data', (chunk) => {
        this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
        if (!opened) {
          const end = this.#rest.indexOf('\r\n\r\n')
          if (end === -1) return
          if (!this.#rest.subarray(0, 12).toString().endsWith('101')) reject(new Error(this.#rest.toString()))
          opened = true
          this.#rest = this.#rest.subarray(end + 4)
          this.#socket.write(masked(0x81, Buffer.from(`{"t":"sub","ch":"one-to-room:${room}"}`)))
        }
        this.#read(resolve)
      })
    })
  }

  get isOver(): boolean {
    return this.#socket.destroyed
  }

  /** Takes nothing any more, until `wake`. */
  sleep(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    this.#socket.resume()
  }

  end(): void {
    this.#socket.destroy()
  }

  #read(subbed: () => void): void {
    let at = 0
    for (;;) {
      const { length } = this.#rest
      if (length - at < 2) break
      const short = (this.#rest[at + 1] ?? 0) & 0x7f
      const head = short < 126 ? 2 : 4
      if (length - at < head) break
      const size = short < 126 ? short : this.#rest.readUInt16BE(at + 2)
      if (length - at < head + size) break
      const kind = (this.#rest[at] ?? 0) & 0x0f
      const start = at + head
      at = start + size
      if (kind === 1) this.#take(this.#rest.toString('latin1', start, Math.min(at, start + 160)), subbed)
      if (kind === 8) this.heard.code ??= this.#rest.readUInt16BE(start)
      if (kind === 9) this.#socket.write(masked(0x8a, Buffer.alloc(0)))
    }
    this.#rest = this.#rest.subarray(at)
  }

  #take(text: string, subbed: () => void): void {
    if (text.startsWith('{"t":"subbed"')) return subbed()
    if (!text.startsWith('{"t":"ev","ch":"one-to-room:')) return
    const { heard } = this
    const position = numberAfter(text, '"position":"')
    const prev = numberAfter(text, '"prev":"')
    if (position < heard.last || (position > heard.last && heard.last > 0 && prev !== heard.last)) heard.faults += 1
    heard.frames += 1
    heard.sum += position
    heard.last = position
    this.#onEvent(position)
  }
}

/** The number in quotation marks after a mark; 0 when it is not there. */
function numberAfter(text: string, mark: string): number {
  const at = text.indexOf(mark)
  return at === -1 ? 0 : Number.parseInt(text.slice(at + mark.length, at + mark.length + 16), 10)
}

/** A client's frame, with a mask that changes nothing. */
function masked(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
