import { connect, type Socket } from 'node:net'
import { FrameReader } from './frame-reader.ts'
import { maskedFrame, PONG_FRAME, TEXT_FRAME, upgradeRequest } from './raw-frames.ts'

/** What a socket received: the number of events of the room, the last position, and errors in their order. */
export interface Received {
  frames: number
  last: number
  /** The sum of positions: equal for two sockets that received the same events. */
  sum: number
  faults: number
  /** The code of the close frame; null before there is one. */
  code: number | null
}

/** A cheap WebSocket client that reads only the positions of events, so that one machine can run thousands of them. */
export class CountingClient {
  readonly received: Received = { frames: 0, last: 0, sum: 0, faults: 0, code: null }
  readonly ready: Promise<void>
  readonly #socket: Socket
  readonly #onEvent: (position: number) => void
  readonly #reader = new FrameReader()

  /** `onEvent` is called for each event of the room. */
  constructor(port: number, token: string, room: string, onEvent: (position: number) => void) {
    this.#onEvent = onEvent
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.ready = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.write(upgradeRequest(port, '/ws', token))
      const onFrame = (opcode: number, bytes: Buffer, start: number, end: number): void => {
        if (opcode === 1) this.#onText(bytes.toString('latin1', start, Math.min(end, start + 160)), resolve)
        if (opcode === 8) this.received.code ??= bytes.readUInt16BE(start)
        if (opcode === 9) this.#socket.write(maskedFrame(PONG_FRAME, ''))
      }
      let head: Buffer | null = Buffer.alloc(0)
      this.#socket.on('data', (chunk: Buffer) => {
        if (head === null) return this.#reader.read(chunk, onFrame)
        head = Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        if (!head.subarray(0, 12).toString().endsWith('101')) reject(new Error(head.toString()))
        this.#socket.write(maskedFrame(TEXT_FRAME, `{"t":"sub","ch":"one-to-room:${room}"}`))
        this.#reader.read(head.subarray(end + 4), onFrame)
        head = null
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

  #onText(text: string, onSubscribed: () => void): void {
    if (text.startsWith('{"t":"subbed"')) return onSubscribed()
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

/** The number after a text; 0 when the text is missing. */
function numberAfter(text: string, prefix: string): number {
  const at = text.indexOf(prefix)
  return at === -1 ? 0 : Number.parseInt(text.slice(at + prefix.length, at + prefix.length + 16), 10)
}
