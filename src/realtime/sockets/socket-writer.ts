import type { Socket } from 'node:net'
import type { Listener } from '../channels/channel.ts'
import { connectionKey } from './tcp-send-queues.ts'

/** Unsent bytes beyond which a client is given up; and so many more, at most, of what it asked for itself. */
const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_REPLAY_BYTES = 8 * 1024 * 1024

/**
 * Writes whole frames to a client: what comes in one turn goes out in one write. Nobody waits for the client: when too
 * much has not been taken, `tooSlow` is called.
 */
export class SocketWriter implements Listener {
  readonly #socket: Socket
  readonly #onSlow: () => void
  readonly #write = (): void => this.flush()
  #first: Buffer | null = null
  /** What came after the first. */
  #others: Buffer[] = []
  #isEnded = false
  /** Bytes that the client asked for since it was last seen to have taken everything. */
  #replayBytes = 0
  /** What the kernel's queues know the connection by; made when it is first needed. */
  #key: string | undefined

  /** `socket` is the one under the websocket, which writes each of its own frames in one go too. */
  constructor(socket: Socket, tooSlow: () => void) {
    this.#socket = socket
    this.#onSlow = tooSlow
  }

  push(frames: Buffer): void {
    if (this.#isEnded) return
    if (this.#first !== null) {
      this.#others.push(frames)
      return
    }
    this.#first = frames
    queueMicrotask(this.#write)
  }

  /** As `push`, for what happened before: it may be much at once, which is no fault of the client's. */
  pushReplay(frames: Buffer): void {
    this.#replayBytes += frames.length
    this.push(frames)
  }

  flush(): void {
    const first = this.#first
    if (first === null) return
    this.#first = null
    const socket = this.#socket
    if (this.#others.length === 0) {
      socket.write(first)
    } else {
      const others = this.#others
      this.#others = []
      socket.cork()
      socket.write(first)
      for (const frames of others) socket.write(frames)
      socket.uncork()
    }
    this.#checkBackpressure(socket.writableLength)
  }

  #checkBackpressure(unsent: number): void {
    if (!this.#isEnded && unsent > MAX_UNSENT_BYTES + Math.min(this.#replayBytes, MAX_REPLAY_BYTES)) this.#onSlow()
  }

  /** Counts what the kernel holds for the client, by `connectionKey`; nothing where it is not among the long queues. */
  checkSendQueue(queues: ReadonlyMap<string, number>): void {
    if (this.#isEnded) return
    const unsent = this.#queuedIn(queues) + this.#socket.writableLength
    this.#checkBackpressure(unsent)
    if (unsent === 0) this.#replayBytes = 0
  }

  #queuedIn(queues: ReadonlyMap<string, number>): number {
    if (queues.size === 0) return 0
    this.#key ??= keyOf(this.#socket)
    return this.#key === undefined ? 0 : (queues.get(this.#key) ?? 0)
  }

  /** Writes what there is, and nothing after it. */
  end(): void {
    this.flush()
    this.#isEnded = true
  }
}

function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  if (localAddress === undefined || remoteAddress === undefined) return undefined
  if (localPort === undefined || remotePort === undefined) return undefined
  return connectionKey({ address: localAddress, port: localPort }, { address: remoteAddress, port: remotePort })
}
