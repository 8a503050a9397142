import { connect, type Socket } from 'node:net'
import { findResponse } from '../http/response.ts'

/** More than an answer has, so that nearly every answer is read in one piece. */
const BUFFER_BYTES = 16_384

/** Callbacks for every answer and every failure. */
export interface Listener {
  answered(connection: Connection): void
  failed(error: Error): void
}

/**
 * A kept-alive connection with one request at a time. It reads into one buffer, and only status and length of an answer.
 * Every answer must be a 200.
 */
export class Connection {
  /** When the present request was sent, or should have been sent. */
  startedAt = 0
  readonly #socket: Socket
  readonly #listener: Listener
  /** The first part of an answer that is not complete yet. */
  #rest: Buffer | null = null

  private constructor(port: number, listener: Listener) {
    this.#listener = listener
    this.#socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(BUFFER_BYTES),
        callback: (count, buffer) => {
          this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, count))
          return true
        },
      },
    })
    this.#socket.on('error', (error) => this.#listener.failed(error))
    this.#socket.on('end', () => this.#listener.failed(new Error('the server closed a connection')))
  }

  /** Resolves when it is connected; reports a failure to the listener. */
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
      if (response.end !== bytes.length) throw new Error('received more than one answer to a request')
      if (response.status !== 200)
        throw new Error(`answered ${response.status}: ${bytes.toString('utf8', response.bodyStart)}`)
    } catch (error) {
      this.#listener.failed(error instanceof Error ? error : new Error(String(error)))
      return
    }
    this.#listener.answered(this)
  }
}
