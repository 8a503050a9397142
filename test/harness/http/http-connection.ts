import { connect, type Socket } from 'node:net'
import { type HttpResponse, ResponseReader } from './response.ts'

/** No answer came, or half of one. */
export class ConnectionClosed extends Error {}

interface Waiting {
  readonly isHead: boolean
  readonly resolve: (response: HttpResponse) => void
  readonly reject: (error: Error) => void
}

interface Open {
  readonly socket: Socket
  readonly waiting: Waiting[]
}

/** Resolves when a connection is over, however that came about. */
export const onceClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))

/** A connection to the service, kept alive as long as it is let; what is asked on it is answered in that order. */
export class HttpConnection {
  readonly #port: number
  readonly #from: string | undefined
  #open: Open | null = null

  /** `from` is the address that it comes from, another one of this machine. */
  constructor(port: number, from?: string) {
    this.#port = port
    this.#from = from
  }

  /** Sends the bytes of one request. Rejects with `CutOff`. */
  send(bytes: Buffer): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const isHead = bytes.toString('latin1', 0, 5) === 'HEAD '
      this.#open ??= this.#dial()
      this.#open.waiting.push({ isHead, resolve, reject })
      this.#open.socket.write(bytes)
    })
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = null
    if (open === null || open.socket.closed) return
    open.socket.destroy()
    await onceClosed(open.socket)
  }

  #dial(): Open {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, localAddress: this.#from })
    const open: Open = { socket, waiting: [] }
    const reader = new ResponseReader()
    let trouble = 'the connection was closed'
    const over = (): void => {
      if (this.#open === open) this.#open = null
      socket.destroy()
    }
    socket.on('data', (chunk) => {
      try {
        for (const response of reader.read(chunk, () => open.waiting[0]?.isHead === true)) {
          open.waiting.shift()?.resolve(response)
          // The next request needs another connection.
          if (response.headers.get('connection') === 'close') over()
        }
      } catch (error) {
        trouble = String(error)
        over()
      }
    })
    socket.on('error', (error) => {
      trouble = String(error)
    })
    socket.on('end', over)
    socket.on('close', () => {
      over()
      for (const { reject } of open.waiting) reject(new ConnectionClosed(trouble))
    })
    return open
  }
}
