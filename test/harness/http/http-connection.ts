import { connect, type Socket } from 'node:net'
import { type HttpResponse, ResponseReader } from './response.ts'

/** The connection was closed before a complete response. */
export class ConnectionClosed extends Error {}

interface PendingRequest {
  readonly isHead: boolean
  readonly resolve: (response: HttpResponse) => void
  readonly reject: (error: Error) => void
}

interface OpenConnection {
  readonly socket: Socket
  readonly pending: PendingRequest[]
}

/** Resolves when a connection is closed, for whatever reason. */
export const onceClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))

/** A kept-alive connection to the service, which is opened again after a close. Responses come in the order of requests. */
export class HttpConnection {
  readonly #port: number
  readonly #localAddress: string | undefined
  #open: OpenConnection | null = null

  /** `localAddress`: another address of this machine to connect from. */
  constructor(port: number, localAddress?: string) {
    this.#port = port
    this.#localAddress = localAddress
  }

  /** Sends the bytes of one request. Rejects with `ConnectionClosed`. */
  send(bytes: Buffer): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const isHead = bytes.toString('latin1', 0, 5) === 'HEAD '
      this.#open ??= this.#connect()
      this.#open.pending.push({ isHead, resolve, reject })
      this.#open.socket.write(bytes)
    })
  }

  /** Whether the next request needs no new connection, as far as is known. */
  get isOpen(): boolean {
    return this.#open !== null
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = null
    if (open === null || open.socket.closed) return
    open.socket.destroy()
    await onceClosed(open.socket)
  }

  #connect(): OpenConnection {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, localAddress: this.#localAddress })
    const open: OpenConnection = { socket, pending: [] }
    const reader = new ResponseReader()
    let closeReason = 'the connection was closed'
    const end = (): void => {
      if (this.#open === open) this.#open = null
      socket.destroy()
    }
    socket.on('data', (chunk) => {
      try {
        for (const response of reader.read(chunk, () => open.pending[0]?.isHead === true)) {
          open.pending.shift()?.resolve(response)
          // The next request needs a new connection.
          if (response.headers.get('connection') === 'close') end()
        }
      } catch (error) {
        closeReason = String(error)
        end()
      }
    })
    socket.on('error', (error) => {
      closeReason = String(error)
    })
    socket.on('end', end)
    socket.on('close', () => {
      end()
      for (const { reject } of open.pending) reject(new ConnectionClosed(closeReason))
    })
    return open
  }
}
