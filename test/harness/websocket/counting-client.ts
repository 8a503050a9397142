import { connect, type Socket } from 'node:net'
import { headerBytes, maskedFrame, PONG_FRAME, payloadBytes, TEXT_FRAME, upgradeRequest } from './raw-frames.ts'

/** What one socket received: how many events of the room, up to which position, and whether in order. */
export interface Received {
  frames: number
  last: number
  /** Of positions: equal for two sockets that received the same events. */
  sum: number
  faults: number
  /** The code of a close frame; null while there was none. */
  code: number | null
}

/** A WebSocket client that costs little, so that thousands fit beside the service: it reads positions of events only. */
export class CountingClient {
  readonly received: Received = { frames: 0, last: 0, sum: 0, faults: 0, code: null }
  readonly ready: Promise<void>
  readonly #socket: Socket
  readonly #onEvent: (position: number) => void
  #rest: Buffer = Buffer.alloc(0)

  /** `onEvent` is called for each event of the room. */
  constructor(port: number, token: string, room: string, onEvent: (position: number) => void) {
    this.#onEvent = onEvent
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.ready = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.write(upgradeRequest(port, '/ws', token))
      let opened = false
      this.#socket.on('data', (chunk) => {
        this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
        if (!opened) {
          const end = this.#rest.indexOf('\r\n\r\n')
          if (end === -1) return
          if (!this.#rest.subarray(0, 12).toString().endsWith('101')) reject(new Error(this.#rest.toString()))
          opened = true
          this.#rest = this.#rest.subarray(end + 4)
          this.#socket.write(maskedFrame(TEXT_FRAME, `{"t":"sub","ch":"one-to-room:${room}"}`))
        }
        this.#read(resolve)
      })
    })
  }

  get isOver(): boolean {
    return this.#socket.destroyed
  }

  /** Stops reading until `resumeReading`. */
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
      const head = headerBytes(this.#rest[at + 1] ?? 0)
      if (length - at < head) break
      const size = payloadBytes(this.#rest, at)
      if (length - at < head + size) break
      const kind = (this.#rest[at] ?? 0) & 0x0f
      const start = at + head
      at = start + size
      if (kind === 1) this.#take(this.#rest.toString('latin1', start, Math.min(at, start + 160)), subbed)
      if (kind === 8) this.received.code ??= this.#rest.readUInt16BE(start)
      if (kind === 9) this.#socket.write(maskedFrame(PONG_FRAME, ''))
    }
    this.#rest = this.#rest.subarray(at)
  }

  #take(text: string, subbed: () => void): void {
    if (text.startsWith('{"t":"subbed"')) return subbed()
    if (!text.startsWith('{"t":"ev","ch":"one-to-room:')) return
    const { received } = this
    const position = numberAfter(text, '"position":"')
    const prev = numberAfter(text, '"prev":"')
    if (position < received.last || (position > received.last && received.last > 0 && prev !== received.last))
      received.faults += 1
    received.frames += 1
    received.sum += position
    received.last = position
    this.#onEvent(position)
  }
}

/** The number in quotation marks after a mark; 0 when it is not there. */
function numberAfter(text: string, mark: string): number {
  const at = text.indexOf(mark)
  return at === -1 ? 0 : Number.parseInt(text.slice(at + mark.length, at + mark.length + 16), 10)
}
