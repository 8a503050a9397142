import type { Socket } from 'node:net'
import type { Listener } from '../channels/channel.ts'
import { connectionKey } from './tcp-send-queues.ts'

/** Unsent bytes beyond which a client is too slow, and how much more may be unsent of a replay. */
const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_REPLAY_BYTES = 8 * 1024 * 1024

/**
 * Writes whole frames to a client, all of one turn of the event loop in one write. There is no flow control: when too
 * much is unsent, `onSlow` is called.
 */
export class SocketWriter implements Listener {
  readonly #socket: Socket
  readonly #onSlow: () => void
  readonly #write = (): void => this.flush()
  /** The pending frames; most turns have only one buffer, which needs no array. */
  #first: Buffer | null = null
  #others: Buffer[] = []
  #isEnded = false
  /** Replayed bytes since the client was last seen to have read everything. */
  #replayBytes = 0
  /** Computed when it is first needed. */
  #key: string | undefined

  /** `socket` is the TCP socket of the websocket; `ws` writes each of its own frames to it in one call, too. */
  constructor(socket: Socket, onSlow: () => void) {
    this.#socket = socket
    this.#onSlow = onSlow
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

  /** As `push`, for replayed frames: more of them may be unsent. */
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

  /** Counts what the kernel holds for the client as unsent; `queues` by `connectionKey`, long ones only. */
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

  /** Writes what is pending, and nothing after it. */
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
