import { connect, type Socket } from 'node:net'
import { FrameReader } from '../../../../test/harness/websocket/frame-reader.ts'
import { maskedFrame, PONG_FRAME, TEXT_FRAME, upgradeRequest } from '../../../../test/harness/websocket/raw-frames.ts'

/** The part of a frame that is read: more than its fields before `data`. */
const MAX_READ_BYTES = 200

export interface Target {
  readonly port: number
  /** An address of this machine to connect from, as each has a range of ports of its own. */
  readonly localAddress: string
}

/** How a connection ended. */
export interface Ending {
  /** Of the close frame, and of the answer to the upgrade if it was not 101; 0 without. */
  readonly code: number
  readonly status: number
  /** The time in `Retry-After`; 0 without. */
  readonly retryAfterMs: number
  /** Whether nobody listened. */
  readonly isRefused: boolean
}

/** A WebSocket client that costs little and answers pings. `onText` gets the first bytes of each frame. */
export class RawSocket {
  readonly #socket: Socket
  readonly #reader = new FrameReader()
  readonly #onText: (text: string) => void
  /** The answer to the upgrade; null when it has come as a whole. */
  #head: string | null = ''
  #ending: Ending = { code: 0, status: 0, retryAfterMs: 0, isRefused: false }

  constructor(
    { port, localAddress }: Target,
    token: string,
    onText: (text: string) => void,
    onEnd: (ending: Ending) => void,
  ) {
    this.#onText = onText
    this.#socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    this.#socket.on('data', (chunk) => this.#onData(chunk))
    this.#socket.on('error', ({ message }) => {
      if (message.includes('ECONNREFUSED')) this.#ending = { ...this.#ending, isRefused: true }
    })
    this.#socket.on('close', () => onEnd(this.#ending))
    this.#socket.write(upgradeRequest(port, '/ws', token))
  }

  send(frame: object): void {
    this.#socket.write(maskedFrame(TEXT_FRAME, JSON.stringify(frame)))
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #onData(chunk: Buffer): void {
    if (this.#head === null) return this.#read(chunk)
    this.#head += chunk.toString('latin1')
    const end = this.#head.indexOf('\r\n\r\n')
    if (end === -1) return
    const status = Number(this.#head.slice('HTTP/1.1 '.length, 'HTTP/1.1 101'.length))
    if (status === 101) {
      const rest = Buffer.from(this.#head.slice(end + 4), 'latin1')
      this.#head = null
      return this.#read(rest)
    }
    const retryAfterMs = 1_000 * Number(/\r\nretry-after: *(\d+)/i.exec(this.#head)?.[1] ?? 0)
    this.#ending = { ...this.#ending, status, retryAfterMs }
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#reader.read(chunk, (opcode, bytes, start, end) => {
      if (opcode === 1) this.#onText(bytes.toString('latin1', start, Math.min(end, start + MAX_READ_BYTES)))
      if (opcode === 9) this.#socket.write(maskedFrame(PONG_FRAME, ''))
      if (opcode !== 8) return
      this.#ending = { ...this.#ending, code: end > start ? bytes.readUInt16BE(start) : 0 }
      this.#socket.end()
    })
  }
}
