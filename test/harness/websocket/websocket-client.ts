import { WebSocket } from 'ws'

export interface WebSocketOptions {
  readonly path?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Another address of this machine to connect from. */
  readonly localAddress?: string
  /** Whether it answers pings; default: yes. */
  readonly answersPings?: boolean
  readonly onOpen?: () => void
  readonly onText?: (text: string) => void
  readonly onClose?: (code: number) => void
}

/** The WebSocket client of tests, soak and hostile. It keeps no frames, and by itself sends only pongs. */
export class WebSocketClient {
  readonly ws: WebSocket
  /** The close code, once there is one. */
  code: number | undefined
  /** Status and body of a refused upgrade. */
  rejection: { readonly status: number; readonly body: string } | undefined

  constructor(origin: string, options: WebSocketOptions) {
    const { path = '/ws', token, headers = {}, localAddress, answersPings = true } = options
    this.ws = new WebSocket(`${origin.replace('http', 'ws')}${path}`, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      autoPong: answersPings,
      perMessageDeflate: false,
      ...(localAddress !== undefined && { localAddress }),
    })
    this.ws.on('open', () => options.onOpen?.())
    this.ws.on('message', (data: Buffer) => options.onText?.(data.toString()))
    this.ws.on('close', (code) => {
      this.code ??= code
      options.onClose?.(code)
    })
    this.ws.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => {
        this.rejection = { status: response.statusCode ?? 0, body }
        this.ws.terminate()
      })
    })
    // A close event follows each error.
    this.ws.on('error', () => {})
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  /** Open, refused or closed. */
  get isSettled(): boolean {
    return this.isOpen || this.rejection !== undefined || this.code !== undefined
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** Closes the connection without a close frame. */
  terminate(): void {
    this.ws.terminate()
  }

  /** Terminates the connection and waits until it is closed. */
  async close(): Promise<void> {
    if (this.ws.readyState === WebSocket.CLOSED) return
    const closed = new Promise<void>((resolve) => this.ws.once('close', () => resolve()))
    this.ws.terminate()
    await closed
  }
}

/** A client that keeps the text of every frame. */
export class RecordingClient extends WebSocketClient {
  readonly frames: string[]

  constructor(origin: string, options: WebSocketOptions) {
    const frames: string[] = []
    super(origin, { ...options, onText: (text) => frames.push(text) })
    this.frames = frames
  }
}
