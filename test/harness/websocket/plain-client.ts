import { connect, type Socket } from 'node:net'
import { FrameReader, maskedFrame, PONG_FRAME, TEXT_FRAME, upgradeRequest } from './raw-frames.ts'

/** The part of a frame that is read: more than its fields before `data`. */
const MAX_READ_BYTES = 200

/** How a connection ended. */
export interface Ending {
  /** The code of the close frame, and the status of an answer to the upgrade other than 101; 0 without. */
  readonly code: number
  readonly status: number
  /** The time in `Retry-After`; 0 without. */
  readonly retryAfterMs: number
  /** Whether nobody listened. */
  readonly isRefused: boolean
}

export interface PlainOptions {
  readonly port: number
  readonly token: string
  readonly path?: string
  /** An address of this machine to connect from, as each has a range of ports of its own. */
  readonly localAddress?: string
  /** Called after the upgrade. */
  readonly onOpen?: () => void
  /** Called with the first bytes of each text frame. */
  readonly onText?: (text: string) => void
  readonly onEnd?: (ending: Ending) => void
}

/**
 * A WebSocket client on a plain socket that answers pings and reads only the first bytes of each frame, so that one
 * process can run thousands of them. `WebSocketClient` reads whole frames.
 */
export class PlainClient {
  readonly #socket: Socket
  readonly #options: PlainOptions
  readonly #reader = new FrameReader()
  /** The answer to the upgrade; null when it has come as a whole. */
  #head: string | null = ''
  #ending: Ending = { code: 0, status: 0, retryAfterMs: 0, isRefused: false }

  constructor(options: PlainOptions) {
    const { port, token, path = '/ws', localAddress } = options
    this.#options = options
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      ...(localAddress !== undefined && { localAddress }),
    })
    this.#socket.on('data', (chunk) => this.#onData(chunk))
    this.#socket.on('error', ({ message }) => {
      if (message.includes('ECONNREFUSED')) this.#ending = { ...this.#ending, isRefused: true }
    })
    this.#socket.on('close', () => options.onEnd?.(this.#ending))
    this.#socket.write(upgradeRequest(port, path, token))
  }

  /** An object is sent as JSON. */
  send(frame: object | string): void {
    this.#socket.write(maskedFrame(TEXT_FRAME, typeof frame === 'string' ? frame : JSON.stringify(frame)))
  }

  /** Stops reading until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
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
      this.#options.onOpen?.()
      return this.#read(rest)
    }
    const retryAfterMs = 1_000 * Number(/\r\nretry-after: *(\d+)/i.exec(this.#head)?.[1] ?? 0)
    this.#ending = { ...this.#ending, status, retryAfterMs }
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#reader.read(chunk, (opcode, bytes, start, end) => {
      if (opcode === 1) this.#options.onText?.(bytes.toString('latin1', start, Math.min(end, start + MAX_READ_BYTES)))
      if (opcode === 9) this.#socket.write(maskedFrame(PONG_FRAME, ''))
      if (opcode !== 8) return
      this.#ending = { ...this.#ending, code: end > start ? bytes.readUInt16BE(start) : 0 }
      this.#socket.end()
    })
  }
}
