import { WebSocket } from 'ws'
import { DEADLINE_MS } from '../until.ts'

/** A frame that was received. */
export interface Frame {
  readonly t: string
  readonly [field: string]: unknown
}

export interface WebSocketOptions {
  readonly path?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Another address of this machine to connect from. */
  readonly localAddress?: string
  /** Whether it answers pings; default: yes. */
  readonly answersPings?: boolean
  /** Whether it keeps all frames, which the waits need; default: no. */
  readonly keepsFrames?: boolean
  /** Called for each frame that is kept; an error that it throws fails the test. */
  readonly check?: (frame: Frame) => void
  readonly onOpen?: () => void
  readonly onText?: (text: string) => void
  readonly onClose?: (code: number) => void
}

/** The WebSocket client of tests, soak and attack run. By itself it sends only pongs. */
export class WebSocketClient {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  /** The close code, once there is one. */
  code: number | undefined
  /** Status and body of a refused upgrade. */
  rejection: { readonly status: number; readonly body: string } | undefined
  readonly #watchers = new Set<() => void>()

  constructor(origin: string, options: WebSocketOptions) {
    const { path = '/ws', token, headers = {}, localAddress, answersPings = true, keepsFrames = false } = options
    this.ws = new WebSocket(`${origin.replace('http', 'ws')}${path}`, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      autoPong: answersPings,
      perMessageDeflate: false,
      ...(localAddress !== undefined && { localAddress }),
    })
    this.ws.on('open', () => options.onOpen?.())
    this.ws.on('message', (data: Buffer) => {
      const text = data.toString()
      options.onText?.(text)
      if (!keepsFrames) return
      const frame: Frame = JSON.parse(text)
      options.check?.(frame)
      this.frames.push(frame)
      this.#notify()
    })
    this.ws.on('close', (code) => {
      this.code ??= code
      options.onClose?.(code)
      // After a refused upgrade, too.
      this.#notify()
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

  /** Waits until `find` returns something else than undefined. Throws after a deadline. */
  async waitFor<T>(find: (client: this) => T | undefined, what = 'a frame'): Promise<T> {
    const found = find(this)
    if (found !== undefined) return found
    return new Promise<T>((resolve, reject) => {
      const timeout = setTimeout(() => {
        this.#watchers.delete(watcher)
        reject(
          new Error(`no ${what}; code ${this.code}, received ${JSON.stringify(this.frames.slice(-5)).slice(0, 1_000)}`),
        )
      }, DEADLINE_MS)
      // The timer must not keep a test alive that no longer waits.
      timeout.unref()
      const watcher = (): void => {
        const value = find(this)
        if (value === undefined) return
        clearTimeout(timeout)
        this.#watchers.delete(watcher)
        resolve(value)
      }
      this.#watchers.add(watcher)
    })
  }

  /** The first frame of a type and, if given, with this `i`. */
  waitForFrame(type: string, i?: number): Promise<Frame> {
    return this.waitFor(({ frames }) => frames.find((f) => f.t === type && (i === undefined || f['i'] === i)), type)
  }

  /** The events of a channel, in order. */
  eventsOf(channel: string): Frame[] {
    return this.frames.filter(({ t, ch, prev }) => t === 'ev' && ch === channel && prev !== undefined)
  }

  waitForClose(): Promise<number> {
    return this.waitFor(({ code }) => code, 'close')
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher()
  }
}
