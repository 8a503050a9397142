import { connect, type Socket } from 'node:net'
import { findResponse } from '../http/response.ts'

/** More than an answer takes, so that nearly every one comes in one piece. */
const BUFFER = 16_384

/** Hears of every answer, and of the first failure. */
export interface Listener {
  answered(connection: Connection): void
  failed(error: Error): void
}

/**
 * A kept-alive connection with one request on its way at a time. Reads into one buffer of its own and looks at an
 * answer's status and length only. Every answer must be a 200.
 */
export class Connection {
  /** When the request on its way was sent, or should have been. */
  startedAt = 0
  readonly #socket: Socket
  readonly #listener: Listener
  /** What came of an answer that did not come in one piece. */
  #rest: Buffer | null = null

  private constructor(port: number, listener: Listener) {
    this.#listener = listener
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(BUFFER),
        callback: (count, buffer) => {
          this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, count))
          return true
        },
      },
    })
    this.#socket.on('error', (error) => this.#listener.failed(error))
    this.#socket.on('end', () => this.#listener.failed(new Error('the server closed a connection')))
  }

  /** Resolves when it is connected; when that fails, the listener hears of it. */
  static open(port: number, listener: Listener): Promise<Connection> {
    const connection = new Connection(port, listener)
    return new Promise((resolve) => connection.#socket.once('connect', () => resolve(connection)))
  }

  send(request: Buffer, startedAt: number): void {
    this.startedAt = startedAt
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(piece: Buffer): void {
    const bytes = this.#rest === null ? piece : Buffer.concat([this.#rest, piece])
    try {
      const response = findResponse(bytes)
      if (response === null) {
        this.#rest = Buffer.from(bytes)
        return
      }
      this.#rest = null
      if (response.end !== bytes.length) throw new Error('more was answered than was asked')
      if (response.status !== 200)
        throw new Error(`answered ${response.status}: ${bytes.toString('utf8', response.bodyStart)}`)
    } catch (error) {
      this.#listener.failed(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#listener.answered(this)
  }
}
