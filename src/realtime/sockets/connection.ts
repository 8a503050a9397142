import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CloseCode, Echo } from '../../../schema/frames.ts'
import type { Shown } from '../../http/auth/gate.ts'
import type { ChannelRefusal } from './client.ts'
import { invalidFrame, type ParsedFrame, parseFrame } from './client-frames.ts'
import { closeCodes } from './close-codes.ts'
import { FixedWindow } from './fixed-window.ts'
import { CLOSE, FrameScanner, PONG } from './frame-scanner.ts'
import { framed } from './framing.ts'
import { SocketWriter } from './socket-writer.ts'
import { type SubscriptionParts, Subscriptions } from './subscriptions.ts'

/** Frames of a client in a second, of any kind; pongs that answer a ping of ours aside. */
const MAX_FRAMES_PER_SECOND = 20
/** Frames that wait for one that takes its time. */
const MAX_QUEUED_FRAMES = 100
/** Frames that are not understood, one after the other or not. */
const MAX_INVALID_FRAMES = 10
/** Pings that go unanswered. */
const MAX_UNANSWERED_PINGS = 2

const PING = Buffer.from([0x89, 0])
const HEARTBEAT = Buffer.concat([PING, framed(['{"t":"hb"}'])])

/** Whose socket it is, as a token said. Times in seconds since 1970. */
export interface SocketSession {
  readonly userId: number
  readonly issuedAt: number
  readonly expiresAt: number
  /** What the token goes by. */
  readonly tokenKey: string
}

/** A socket that was opened just now. */
export interface OpenedSocket {
  readonly ws: WebSocket
  /** The one under it. */
  readonly socket: Socket
  /** What its request showed. */
  readonly clientHints: Omit<Shown, 'tokenKey'>
  /** The `addressKey` of its client. */
  readonly address: string
}

export interface ConnectionParts extends SubscriptionParts {
  /** Finds who holds a token, and calls `admitted` with the holder while that is so, or with why it is not. */
  readonly authenticate: (token: string, admitted: (found: SocketSession | CloseCode) => void) => Promise<void>
  /** The client is let in, or has a new token: `connection.holder` is set. */
  readonly onAuthenticated: (connection: Connection, isNew: boolean) => void
  /** It is gone, or on its way. `code` is ours, or null when the client left. */
  readonly onClosed: (connection: Connection, code: CloseCode | null) => void
  readonly heartbeatMs: number
  readonly onError: (error: unknown) => void
}

/** One client's socket: who it is, what it says, what it is told. */
export class Connection {
  /** The `addressKey` of its client. */
  readonly address: string
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #clientHints: Omit<Shown, 'tokenKey'>
  readonly #parts: ConnectionParts
  readonly #writer: SocketWriter
  readonly #frameRate = new FixedWindow(MAX_FRAMES_PER_SECOND)
  readonly #queue: ParsedFrame[] = []
  /** In milliseconds, as `performance.now()` tells them. */
  #authDeadline: number | null
  #heartbeatAt: number
  #session: SocketSession | undefined
  #subscriptions: Subscriptions | undefined
  #isHandling = false
  #unansweredPings = 0
  #invalidFrames = 0
  #isClosed = false

  /** To be made at once when the socket is open. `authMs` is how long a client may take to say who it is. */
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
    ws.on('message', (data, isBinary) => this.#guard(() => this.#receive(data, isBinary)))
    const scanner = new FrameScanner((opcode) => this.#countFrame(opcode))
    // Before `ws` reads it: what is too much costs no more than this.
    socket.prependListener('data', (chunk: Buffer) => {
      if (!this.#isClosed && !scanner.scan(chunk)) this.#closeFlood()
    })
    // It closes by itself.
    ws.on('error', () => {})
    ws.on('close', () => this.#onClosing(null))
  }

  get session(): SocketSession | undefined {
    return this.#session
  }

  /** What it shows of itself, by which the app's state is judged. */
  get clientHints(): Shown {
    return { ...this.#clientHints, tokenKey: this.#session?.tokenKey ?? null }
  }

  /** Lets the client in with a token, or closes. */
  async authenticate(token: string): Promise<void> {
    try {
      await this.#parts.authenticate(token, (found) => this.#onAuthentication(found))
    } catch (error) {
      this.#parts.onError(error)
      // The database is away, which is nothing against the client.
      this.close(closeCodes.capacity)
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
    const { hub, heartbeatMs } = this.#parts
    this.#subscriptions = new Subscriptions(result.userId, this, this.#parts)
    this.send({ t: 'ready', user_id: result.userId, position: String(hub.position), heartbeat: heartbeatMs / 1000 })
  }

  /** Sends one frame. */
  send(frame: object): void {
    this.push(framed([JSON.stringify(frame)]))
  }

  push(frames: Buffer): void {
    this.#writer.push(frames)
  }

  pushReplay(frames: Buffer): void {
    this.#writer.pushReplay(frames)
  }

  /** Shows the user's own state, as long as the client has not left its channel. */
  pushState(frames: Buffer): void {
    if (this.#subscriptions?.hasOwnChannel === true) this.push(frames)
  }

  refuse(refusal: ChannelRefusal): void {
    this.send({ t: 'err', ...refusal })
  }

  /** Looks what is due; `now` as `performance.now()` and `seconds` since 1970. */
  checkDeadlines(now: number, seconds: number): void {
    if (this.#authDeadline !== null && now >= this.#authDeadline) return this.close(closeCodes.token)
    if (this.#session !== undefined && seconds > this.#session.expiresAt) return this.close(closeCodes.tokenExpired)
    if (now < this.#heartbeatAt) return
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) return this.close(closeCodes.noPong)
    this.#unansweredPings += 1
    this.#heartbeatAt = now + this.#parts.heartbeatMs
    this.push(HEARTBEAT)
  }

  /** Closes when the kernel holds too much that the client did not take. */
  checkSendQueue(queues: ReadonlyMap<string, number>): void {
    this.#writer.checkSendQueue(queues)
  }

  /** After all that was sent. Nothing is sent or heard any more. */
  close(code: CloseCode): void {
    if (this.#isClosed) return
    this.#onClosing(code)
    this.#ws.close(code)
  }

  /** Cuts the connection off. */
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

  /** False when there were too many. */
  #countFrame(opcode: number): boolean {
    if (opcode === CLOSE) return true
    if (opcode === PONG && this.#unansweredPings > 0) {
      this.#unansweredPings = 0
      return true
    }
    return this.#frameRate.take(performance.now())
  }

  /** Closes and reads no more: whoever floods is not waited for, and what comes is left to the kernel. */
  #closeFlood(): void {
    this.close(closeCodes.tooFast)
    this.#ws.pause()
    this.#socket.end()
  }

  #receive(data: unknown, isBinary: boolean): void {
    if (this.#isClosed) return
    if (this.#queue.length >= MAX_QUEUED_FRAMES) return this.close(closeCodes.tooFast)
    this.#queue.push(isBinary || !Buffer.isBuffer(data) ? invalidFrame : parseFrame(data.toString()))
    if (!this.#isHandling) void this.#handleQueue()
  }

  /** One frame after the other, as they came. */
  async #handleQueue(): Promise<void> {
    this.#isHandling = true
    for (let parsed = this.#queue.shift(); parsed !== undefined; parsed = this.#queue.shift()) {
      try {
        await this.#handle(parsed)
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#isHandling = false
  }

  async #handle({ frame, i }: ParsedFrame): Promise<void> {
    const subscriptions = this.#subscriptions
    if (subscriptions === undefined) {
      // Nothing is said to whoever has not said who they are.
      return frame?.t === 'auth' ? this.authenticate(frame.token) : this.close(closeCodes.token)
    }
    switch (frame?.t) {
      case undefined:
        return this.#rejectFrame(i)
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

  #rejectFrame(i: Echo): void {
    this.#invalidFrames += 1
    this.send({ t: 'err', i, code: 'bad_frame', message: 'This frame is not understood.' })
    if (this.#invalidFrames >= MAX_INVALID_FRAMES) this.close(closeCodes.badFrames)
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** A bug, or the database is away: this client comes back, and nobody else is touched. */
  #fail(error: unknown): void {
    this.#parts.onError(error)
    this.close(closeCodes.capacity)
  }
}
