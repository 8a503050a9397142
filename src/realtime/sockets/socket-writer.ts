import type { Socket } from 'node:net'
import type { Listener } from '../channels/fan-out.ts'
import { connectionKey } from './tcp-send-queues.ts'

/** Unsent bytes beyond which a client is too slow, and how much more may be unsent of a replay. */
const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_REPLAY_BYTES = 8 * 1024 * 1024

/** Writes whole frames to a client. There is no flow control: when too much is unsent, `onSlow` is called. */
export class SocketWriter implements Listener {
  readonly #socket: Socket
  readonly #onSlow: () => void
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
    this.#socket.write(frames)
    // Not at once: whoever pushes does not expect the connection to close meanwhile.
    if (this.#isSlow(this.#socket.writableLength)) queueMicrotask(this.#onSlow)
  }

  /** As `push`, for replayed frames: more of them may be unsent. */
  pushReplay(frames: Buffer): void {
    this.#replayBytes += frames.length
    this.push(frames)
  }

  #isSlow(unsent: number): boolean {
    return !this.#isEnded && unsent > MAX_UNSENT_BYTES + Math.min(this.#replayBytes, MAX_REPLAY_BYTES)
  }

  /** Counts what the kernel holds for the client as unsent; `queues` by `connectionKey`, long ones only. */
  checkSendQueue(queues: ReadonlyMap<string, number>): void {
    if (this.#isEnded) return
    const unsent = this.#queuedIn(queues) + this.#socket.writableLength
    if (this.#isSlow(unsent)) this.#onSlow()
    if (unsent === 0) this.#replayBytes = 0
  }

  #queuedIn(queues: ReadonlyMap<string, number>): number {
    if (queues.size === 0) return 0
    this.#key ??= keyOf(this.#socket)
    return this.#key === undefined ? 0 : (queues.get(this.#key) ?? 0)
  }

  /** Writes nothing from here on. */
  end(): void {
    this.#isEnded = true
  }
}

function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  if (localAddress === undefined || remoteAddress === undefined) return undefined
  if (localPort === undefined || remotePort === undefined) return undefined
  return connectionKey({ address: localAddress, port: localPort }, { address: remoteAddress, port: remotePort })
}
