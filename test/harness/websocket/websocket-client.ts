import { WebSocket } from 'ws'

/** A websocket client of a test of strength: keeps what it heard, and answers nothing by itself but pongs. */
export class SocketClient {
  readonly #socket: WebSocket
  /** Frames that came, as text. */
  readonly frames: string[] = []
  /** Of a socket that was refused: the status of the answer. */
  refused: number | null = null
  /** Of a socket that was closed. */
  code: number | null = null

  /** Without a token it is a stranger; `from` is the address that it comes from. */
  constructor(port: number, { token, from }: { readonly token?: string; readonly from?: string }) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(from === undefined ? {} : { localAddress: from }),
      perMessageDeflate: false,
    })
    this.#socket.on('message', (data: Buffer) => this.frames.push(data.toString()))
    this.#socket.on('unexpected-response', (request, { statusCode = 0 }) => {
      this.refused = statusCode
      request.destroy()
    })
    this.#socket.on('error', () => {
      this.refused ??= 0
    })
    this.#socket.on('close', (code) => {
      this.code = code
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Open, refused or closed. */
  get isSettled(): boolean {
    return this.isOpen || this.refused !== null || this.code !== null
  }

  send(text: string): void {
    if (this.isOpen) this.#socket.send(text)
  }

  pong(): void {
    if (this.isOpen) this.#socket.pong()
  }

  ping(): void {
    if (this.isOpen) this.#socket.ping()
  }

  /** A part of a text that never ends. */
  sendEmptyFragment(): void {
    if (this.isOpen) this.#socket.send('', { fin: false })
  }

  async end(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    // One that is ended before it is open fails first, which `once` would pass on.
    const closed = new Promise((resolve) => this.#socket.on('close', resolve))
    this.#socket.terminate()
    await closed
  }
}
