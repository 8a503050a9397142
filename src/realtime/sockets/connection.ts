import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CloseCode, Echo } from '../../../schema/frames.ts'
import type { Language } from '../../../schema/languages.ts'
import type { ClientHints, ClientKeys } from '../../http/auth/gate.ts'
import { socketMessages } from '../messages.ts'
import { type SubscriptionParts, Subscriptions } from '../subscriptions/subscriptions.ts'
import { type ChannelRefusal, closeCodes } from './client.ts'
import { CLOSE, FrameScanner, invalidFrame, type ParsedFrame, PONG, parseFrame } from './frame-parser.ts'
import { encodeFrames, SocketWriter } from './socket-writer.ts'

/** Client frames of any kind; pongs that answer our pings are not counted. */
const MAX_FRAMES_PER_SECOND = 20
const RATE_WINDOW_MS = 1_000
/** Frames that wait while an earlier one is handled. */
const MAX_QUEUED_FRAMES = 100
/** Invalid frames over the life of a socket. */
const MAX_INVALID_FRAMES = 10
const MAX_UNANSWERED_PINGS = 2

const PING = Buffer.from([0x89, 0])
const HEARTBEAT = Buffer.concat([PING, encodeFrames(['{"t":"hb"}'])])

/** A verified token. Times in seconds since 1970. */
export interface SocketSession {
  readonly userId: number
  readonly issuedAt: number
  readonly expiresAt: number
  /** Identify the token and its user without revealing them. */
  readonly clientKeys: ClientKeys
}

/** A socket just after its upgrade. */
export interface OpenedSocket {
  readonly ws: WebSocket
  /** The TCP socket of `ws`. */
  readonly socket: Socket
  /** From the upgrade request. */
  readonly clientHints: Omit<ClientHints, 'keys'>
  /** The client's `addressKey`. */
  readonly address: string
}

export interface ConnectionParts extends SubscriptionParts {
  /** Checks a token; calls `onResult` with the session while it is valid, or with the code to close with. */
  readonly authenticate: (token: string, onResult: (result: SocketSession | CloseCode) => void) => Promise<void>
  /** Called with `session` set: for a new client, or after a token refresh. */
  readonly onAuthenticated: (connection: Connection, isNew: boolean) => void
  /** Called once, with our close code, or null when the client closed. */
  readonly onClosed: (connection: Connection, code: CloseCode | null) => void
  readonly heartbeatMs: number
}

/** One client's socket: its session, the frames it sends, and the frames it gets. */
export class Connection {
  /** The client's `addressKey`. */
  readonly address: string
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #clientHints: Omit<ClientHints, 'keys'>
  readonly #parts: ConnectionParts
  readonly #writer: SocketWriter
  readonly #frameRate = new FixedWindow(MAX_FRAMES_PER_SECOND)
  readonly #queue: ParsedFrame[] = []
  /** By `performance.now()`; null once the client has authenticated. */
  #authDeadline: number | null
  #heartbeatAt: number
  #session: SocketSession | undefined
  #subscriptions: Subscriptions | undefined
  #isHandling = false
  /** The end of the last `refresh`; never rejects. */
  #refreshed: Promise<void> = Promise.resolve()
  #unansweredPings = 0
  #invalidFrames = 0
  #isClosed = false

  /** To be created in the turn in which the socket opens. `authMs` is how long the client may take to authenticate. */
  constructor(opened: OpenedSocket, authMs: number, parts: ConnectionParts) {
    const { ws, socket, clientHints, address } = opened
    this.address = address
    this.#ws = ws
    this.#socket = socket
    this.#clientHints = clientHints
    this.#parts = parts
    this.#writer = new SocketWriter(socket, () => this.close(closeCodes.slow))
    const now = performance.now()
    this.#authDeadline = now + authMs
    this.#heartbeatAt = now + parts.heartbeatMs
    ws.on('message', (data, isBinary) => {
      try {
        this.#receive(data, isBinary)
      } catch (error) {
        this.#fail(error)
      }
    })
    const scanner = new FrameScanner((opcode) => this.#countFrame(opcode))
    // Before `ws` parses the bytes, so that a flood costs no more than this scan.
    socket.prependListener('data', (chunk: Buffer) => {
      if (!this.#isClosed && !scanner.scan(chunk)) this.#closeFlood()
    })
    // `ws` cannot parse what the client sends. It has sent the close frame already, and nothing may follow it.
    ws.on('error', () => {
      this.#writer.end()
      this.#onClosing(closeCodes.badFrames)
    })
    ws.on('close', () => this.#onClosing(null))
  }

  get session(): SocketSession | undefined {
    return this.#session
  }

  /** Bytes that wait for the client in this process. */
  get unsentBytes(): number {
    return this.#writer.unsentBytes
  }

  /** Decide whether the service is open to this client. */
  get clientHints(): ClientHints {
    return { ...this.#clientHints, keys: this.#session?.clientKeys ?? null }
  }

  /** The language of the upgrade request. */
  get language(): Language {
    return this.#clientHints.language
  }

  /** Starts or renews the session, or closes. */
  async authenticate(token: string): Promise<void> {
    try {
      await this.#parts.authenticate(token, (result) => this.#onAuthentication(result))
    } catch (error) {
      this.#fail(error)
    }
  }

  #onAuthentication(result: SocketSession | CloseCode): void {
    if (this.#isClosed) return
    if (typeof result === 'number') return this.close(result)
    const previous = this.#session
    if (previous !== undefined && previous.userId !== result.userId) return this.close(closeCodes.forbidden)
    this.#session = result
    this.#authDeadline = null
    this.#parts.onAuthenticated(this, previous === undefined)
    if (this.#isClosed || previous !== undefined) return
    const { hub, incarnation, heartbeatMs } = this.#parts
    const { userId } = result
    this.#subscriptions = new Subscriptions(userId, this, this.#parts)
    const [position, ledger] = [String(hub.position), incarnation.name]
    this.send({ t: 'ready', user_id: userId, position, ledger, heartbeat: heartbeatMs / 1000 })
  }

  /** Sends one frame. */
  send(frame: object): void {
    this.push(encodeFrames([JSON.stringify(frame)]))
  }

  push(frames: Buffer): void {
    this.#writer.push(frames)
  }

  pushBacklog(frames: Buffer): void {
    this.#writer.pushBacklog(frames)
  }

  drained(): Promise<void> {
    return this.#writer.drained()
  }

  /** The user is no longer a member of a room as of a position. */
  leaveRoom(roomId: number, position: number): void {
    this.#subscriptions?.leaveRoom(roomId, position)
  }

  /** Sends the user's own state, unless the client has unsubscribed from the user's channel. */
  pushState(frames: Buffer): void {
    if (this.#subscriptions?.hasOwnChannel === true) this.push(frames)
  }

  /** Refuses a channel, in the language of the upgrade. */
  refuse(refusal: ChannelRefusal): void {
    this.send({ t: 'err', ...refusal, message: refusal.message[this.language] })
  }

  /** Closes past a deadline, else sends a due heartbeat. `now` by `performance.now()`, `seconds` since 1970. */
  checkDeadlines(now: number, seconds: number): void {
    if (this.#authDeadline !== null && now >= this.#authDeadline) return this.close(closeCodes.token)
    if (this.#session !== undefined && seconds > this.#session.expiresAt) return this.close(closeCodes.tokenExpired)
    if (now < this.#heartbeatAt) return
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) return this.close(closeCodes.noPong)
    this.#unansweredPings += 1
    this.#heartbeatAt = now + this.#parts.heartbeatMs
    this.push(HEARTBEAT)
  }

  /** Closes after all that was sent; nothing is sent or received from here on. */
  close(code: CloseCode): void {
    if (this.#isClosed) return
    this.#onClosing(code)
    this.#ws.close(code)
  }

  /** Cuts the connection without a close frame. */
  terminate(): void {
    this.#ws.terminate()
  }

  #onClosing(code: CloseCode | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#writer.end()
    this.#queue.length = 0
    this.#subscriptions?.end()
    this.#parts.onClosed(this, code)
  }

  /** False when the client sends too many frames. */
  #countFrame(opcode: number): boolean {
    if (opcode === CLOSE) return true
    if (opcode === PONG && this.#unansweredPings > 0) {
      this.#unansweredPings = 0
      return true
    }
    return this.#frameRate.take(performance.now())
  }

  /** Closes without reading on: what the client still sends stays in the kernel. */
  #closeFlood(): void {
    this.close(closeCodes.tooFast)
    this.#ws.pause()
    this.#socket.end()
  }

  #receive(data: unknown, isBinary: boolean): void {
    if (this.#isClosed) return
    if (this.#queue.length >= MAX_QUEUED_FRAMES) return this.close(closeCodes.tooFast)
    const parsed = isBinary || !Buffer.isBuffer(data) ? invalidFrame : parseFrame(data.toString())
    // Not behind other frames: a token may expire while one waits for the client to read its backlog.
    if (parsed.frame?.t === 'refresh' && this.#subscriptions !== undefined) {
      this.#refreshed = this.#refresh(this.#refreshed, parsed)
      return
    }
    this.#queue.push(parsed)
    if (!this.#isHandling) void this.#handleQueue()
  }

  async #refresh(earlier: Promise<void>, parsed: ParsedFrame): Promise<void> {
    await earlier
    if (!this.#isClosed) await this.#handle(parsed)
  }

  /** Handles frames one by one, in the order in which they came. */
  async #handleQueue(): Promise<void> {
    this.#isHandling = true
    for (let parsed = this.#queue.shift(); parsed !== undefined; parsed = this.#queue.shift()) {
      await this.#handle(parsed)
    }
    this.#isHandling = false
  }

  /** Never rejects. */
  async #handle(parsed: ParsedFrame): Promise<void> {
    try {
      await this.#answer(parsed)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #answer({ frame, i, ch }: ParsedFrame): Promise<void> {
    const subscriptions = this.#subscriptions
    if (subscriptions === undefined) {
      // Before authentication, frames get no answer.
      return frame?.t === 'auth' ? this.authenticate(frame.token) : this.close(closeCodes.token)
    }
    switch (frame?.t) {
      case undefined:
        return this.#rejectFrame(i, ch)
      case 'auth':
      case 'refresh':
        await this.authenticate(frame.token)
        return this.send({ t: 'refreshed', i: frame.i })
      case 'sub':
        return subscriptions.subscribe(frame)
      case 'unsub':
        return subscriptions.unsubscribe(frame)
      case 'ping':
        return this.send({ t: 'pong', i: frame.i })
    }
  }

  #rejectFrame(i: Echo, ch: string | undefined): void {
    this.#invalidFrames += 1
    const message = socketMessages.bad_frame[this.language]
    this.send({ t: 'err', i, ch, code: 'bad_frame', message })
    if (this.#invalidFrames >= MAX_INVALID_FRAMES) this.close(closeCodes.badFrames)
  }

  /** A bug, or the database is unreachable: closes this connection only, and the client may come back. */
  #fail(error: unknown): void {
    this.#parts.onError(error)
    this.close(closeCodes.capacity)
  }
}

/** A rate limit by fixed windows of a second. */
class FixedWindow {
  readonly #limit: number
  #count = 0
  #windowEndsAt = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one; false beyond the limit. `now` by `performance.now()`. */
  take(now: number): boolean {
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + RATE_WINDOW_MS
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= this.#limit
  }
}
