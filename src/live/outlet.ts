import type { Socket } from 'node:net'
import type { Listener } from './topic.ts'

/** Unsent bytes beyond which a client is given up. */
const MOST_UNSENT = 1024 * 1024

/**
 * Writes whole frames to a client: what comes in one turn goes out in one write. Nobody waits for the client: when too
 * much has not been taken, `tooSlow` is called.
 */
export class Outlet implements Listener {
  readonly #socket: Socket
  readonly #tooSlow: () => void
  readonly #write = (): void => this.flush()
  #first: Buffer | null = null
  /** What came after the first. */
  #others: Buffer[] = []
  #ended = false

  /** `socket` is the one under the websocket, which writes each of its own frames in one go too. */
  constructor(socket: Socket, tooSlow: () => void) {
    this.#socket = socket
    this.#tooSlow = tooSlow
  }

  push(frames: Buffer): void {
    if (this.#ended) return
    if (this.#first !== null) {
      this.#others.push(frames)
      return
    }
    this.#first = frames
    queueMicrotask(this.#write)
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
    if (!this.#ended && socket.writableLength > MOST_UNSENT) this.#tooSlow()
  }

  /** The kernel holds so many bytes for the client, as it says of a connection between these ports. */
  holdsBack(bytes: number, localPort: number, remotePort: number): void {
    const socket = this.#socket
    if (this.#ended || socket.localPort !== localPort || socket.remotePort !== remotePort) return
    if (bytes + socket.writableLength > MOST_UNSENT) this.#tooSlow()
  }

  /** Writes what there is, and nothing after it. */
  end(): void {
    this.flush()
    this.#ended = true
  }
}
