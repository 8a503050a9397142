import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { CloseCode, Echo } from '../../../schema/frames.ts'
import type { Shown } from '../../http/auth/gate.ts'
import type { ChannelRefusal } from './client.ts'
import { type Heard, notUnderstood, readFrame } from './client-frames.ts'
import { closeCodes } from './close-codes.ts'
import { CLOSE, FrameScanner, PONG } from './frame-scanner.ts'
import { framed } from './framing.ts'
import { Rate } from './rate.ts'
import { Outlet } from './socket-writer.ts'
import { type SubscriptionParts, Subscriptions } from './subscriptions.ts'

/** Frames of a client in a second, of any kind; pongs that answer a ping of ours aside. */
const MOST_FRAMES = 20
/** Frames that wait for one that takes its time. */
const MOST_WAITING = 100
/** Frames that are not understood, one after the other or not. */
const MOST_FAULTS = 10
/** Pings that go unanswered. */
const MOST_UNANSWERED = 2

const PING = Buffer.from([0x89, 0])
const SIGN_OF_LIFE = Buffer.concat([PING, framed(['{"t":"hb"}'])])

/** Whose socket it is, as a token said. Times in seconds since 1970. */
export interface Holder {
  readonly userId: number
  readonly issuedAt: number
  readonly expiresAt: number
  /** What the token goes by. */
  readonly tokenKey: string
}

/** A socket that was opened just now. */
export interface Opened {
  readonly ws: WebSocket
  /** The one under it. */
  readonly socket: Socket
  /** What its request showed. */
  readonly shown: Omit<Shown, 'tokenKey'>
  /** The `addressKey` of its client. */
  readonly address: string
}

export interface ConnectionParts extends SubscriptionParts {
  /** Finds who holds a token, and calls `admitted` with the holder while that is so, or with why it is not. */
  readonly admit: (token: string, admitted: (found: Holder | CloseCode) => void) => Promise<void>
  /** The client is let in, or has a new token: `connection.holder` is set. */
  readonly entered: (connection: Connection, isNew: boolean) => void
  /** It is gone, or on its way. `code` is ours, or null when the client left. */
  readonly left: (connection: Connection, code: CloseCode | null) => void
  readonly heartbeatMs: number
  readonly failed: (error: unknown) => void
}

/** One client's socket: who it is, what it says, what it is told. */
export class Connection {
  /** The `addressKey` of its client. */
  readonly address: string
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #shown: Omit<Shown, 'tokenKey'>
  readonly #parts: ConnectionParts
  readonly #outlet: Outlet
  readonly #rate = new Rate(MOST_FRAMES)
  readonly #waiting: Heard[] = []
  /** In milliseconds, as `performance.now()` tells them. */
  #authBy: number | null
  #beatAt: number
  #holder: Holder | undefined
  #subscriptions: Subscriptions | undefined
  #working = false
  #unanswered = 0
  #faults = 0
  #closed = false

  /** To be made at once when the socket is open. `authMs` is how long a client may take to say who it is. */
  constructor(opened: Opened, authMs: number, parts: ConnectionParts) {
    const { ws, socket, shown, address } = opened
    this.address = address
    this.#ws = ws
    this.#socket = socket
    this.#shown = shown
    this.#parts = parts
    this.#outlet = new Outlet(socket, () => this.close(closeCodes.slow))
    const now = performance.now()
    this.#authBy = now + authMs
    this.#beatAt = now + parts.heartbeatMs
    ws.on('message', (data, isBinary) => this.#guard(() => this.#receive(data, isBinary)))
    const scanner = new FrameScanner((opcode) => this.#countFrame(opcode))
    // Before `ws` reads it: what is too much costs no more than this.
    socket.prependListener('data', (chunk: Buffer) => {
      if (!this.#closed && !scanner.scan(chunk)) this.#cutFlood()
    })
    // It closes by itself.
    ws.on('error', () => {})
    ws.on('close', () => this.#leave(null))
  }

  get holder(): Holder | undefined {
    return this.#holder
  }

  /** What it shows of itself, by which the app's state is judged. */
  get shown(): Shown {
    return { ...this.#shown, tokenKey: this.#holder?.tokenKey ?? null }
  }

  /** Lets the client in with a token, or closes. */
  async enter(token: string): Promise<void> {
    try {
      await this.#parts.admit(token, (found) => this.#admitted(found))
    } catch (error) {
      this.#parts.failed(error)
      // The database is away, which is nothing against the client.
      this.close(closeCodes.capacity)
    }
  }

  #admitted(found: Holder | CloseCode): void {
    if (this.#closed) return
    if (typeof found === 'number') return this.close(found)
    const before = this.#holder
    if (before !== undefined && before.userId !== found.userId) return this.close(closeCodes.forbidden)
    this.#holder = found
    this.#authBy = null
    this.#parts.entered(this, before === undefined)
    if (this.#closed || before !== undefined) return
    const { hub, heartbeatMs } = this.#parts
    this.#subscriptions = new Subscriptions(found.userId, this, this.#parts)
    this.send({ t: 'ready', user_id: found.userId, position: String(hub.position), heartbeat: heartbeatMs / 1000 })
  }

  /** Sends one frame. */
  send(frame: object): void {
    this.push(framed([JSON.stringify(frame)]))
  }

  push(frames: Buffer): void {
    this.#outlet.push(frames)
  }

  bringBack(frames: Buffer): void {
    this.#outlet.bringBack(frames)
  }

  /** Shows the user's own state, as long as the client has not left its channel. */
  show(frames: Buffer): void {
    if (this.#subscriptions?.hasOwn === true) this.push(frames)
  }

  refuse(refusal: ChannelRefusal): void {
    this.send({ t: 'err', ...refusal })
  }

  /** Looks what is due; `now` as `performance.now()` and `seconds` since 1970. */
  look(now: number, seconds: number): void {
    if (this.#authBy !== null && now >= this.#authBy) return this.close(closeCodes.token)
    if (this.#holder !== undefined && seconds > this.#holder.expiresAt) return this.close(closeCodes.tokenExpired)
    if (now < this.#beatAt) return
    if (this.#unanswered >= MOST_UNANSWERED) return this.close(closeCodes.noPong)
    this.#unanswered += 1
    this.#beatAt = now + this.#parts.heartbeatMs
    this.push(SIGN_OF_LIFE)
  }

  /** Closes when the kernel holds too much that the client did not take. */
  judgeQueues(queues: ReadonlyMap<string, number>): void {
    this.#outlet.judgeQueues(queues)
  }

  /** After all that was sent. Nothing is sent or heard any more. */
  close(code: CloseCode): void {
    if (this.#closed) return
    this.#leave(code)
    this.#ws.close(code)
  }

  /** Cuts the connection off. */
  terminate(): void {
    this.#ws.terminate()
  }

  #leave(code: CloseCode | null): void {
    if (this.#closed) return
    this.#closed = true
    this.#outlet.end()
    this.#waiting.length = 0
    this.#subscriptions?.end()
    this.#parts.left(this, code)
  }

  /** False when there were too many. */
  #countFrame(opcode: number): boolean {
    if (opcode === CLOSE) return true
    if (opcode === PONG && this.#unanswered > 0) {
      this.#unanswered = 0
      return true
    }
    return this.#rate.count(performance.now())
  }

  /** Closes and reads no more: whoever floods is not waited for, and what comes is left to the kernel. */
  #cutFlood(): void {
    this.close(closeCodes.tooFast)
    this.#ws.pause()
    this.#socket.end()
  }

  #receive(data: unknown, isBinary: boolean): void {
    if (this.#closed) return
    if (this.#waiting.length >= MOST_WAITING) return this.close(closeCodes.tooFast)
    this.#waiting.push(isBinary || !Buffer.isBuffer(data) ? notUnderstood : readFrame(data.toString()))
    if (!this.#working) void this.#work()
  }

  /** One frame after the other, as they came. */
  async #work(): Promise<void> {
    this.#working = true
    for (let heard = this.#waiting.shift(); heard !== undefined; heard = this.#waiting.shift()) {
      try {
        await this.#handle(heard)
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#working = false
  }

  async #handle({ frame, i }: Heard): Promise<void> {
    const subscriptions = this.#subscriptions
    if (subscriptions === undefined) {
      // Nothing is said to whoever has not said who they are.
      return frame?.t === 'auth' ? this.enter(frame.token) : this.close(closeCodes.token)
    }
    switch (frame?.t) {
      case undefined:
        return this.#fault(i)
      case 'auth':
      case 'refresh':
        await this.enter(frame.token)
        return this.send({ t: 'refreshed', i: frame.i })
      case 'sub':
        return subscriptions.subscribe(frame)
      case 'unsub':
        return subscriptions.unsubscribe(frame)
      case 'ping':
        return this.send({ t: 'pong', i: frame.i })
    }
  }

  #fault(i: Echo): void {
    this.#faults += 1
    this.send({ t: 'err', i, code: 'bad_frame', message: 'This frame is not understood.' })
    if (this.#faults >= MOST_FAULTS) this.close(closeCodes.badFrames)
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
    this.#parts.failed(error)
    this.close(closeCodes.capacity)
  }
}
