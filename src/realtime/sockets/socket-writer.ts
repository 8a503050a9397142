import type { Socket } from 'node:net'
import type { QueueReader, SendQueueMonitor } from './send-queue-monitor.ts'

/** Unsent bytes beyond which a client is too slow, and how much more may be unsent of a replay. */
const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_REPLAY_BYTES = 8 * 1024 * 1024
/** How much is handed to the kernel for a client that takes nothing. */
const MAX_UNCONFIRMED_BYTES = 128 * 1024
/** A client that takes nothing for this long gets no reports beyond the regular ones; a lost packet takes less. */
const PATIENCE_MS = 3_000

export interface SocketWriterParts {
  readonly sendQueues: Pick<SendQueueMonitor, 'add' | 'remove' | 'request'>
  /** How long a client may take nothing while something waits for it. */
  readonly stallMs: number
}

/**
 * Writes whole frames to a client. While the client takes nothing, the kernel gets little: the rest is held back here,
 * where one buffer serves all sockets of a channel. Nobody waits for a client: `onSlow` is called when too much is
 * unsent, or when it takes nothing for too long, however little waits for it.
 */
export class SocketWriter implements QueueReader {
  readonly #socket: Socket
  readonly #parts: SocketWriterParts
  readonly #onSlow: () => void
  readonly #key: string
  #isEnded = false
  /** Replayed bytes since the client was last seen to have read everything. */
  #replayBytes = 0
  readonly #held: Buffer[] = []
  #heldBytes = 0
  /** Bytes given to Node that the client's system had not confirmed at the last report, and those given since then. */
  #unconfirmed = 0
  /** Bytes that the client's system had not confirmed at the last report. */
  #unsent = 0
  /** What the kernel held at the last report, and all that the client's system had confirmed until then. */
  #queued = 0
  #confirmed = 0
  /** Since when something waits of which the client takes nothing, as far as reports show it, and until the last one. */
  #stalledSince: number | null = null
  #stalledMs = 0
  /** Whether the client took nothing of what waited before the last report. */
  #isStalled = false

  /** `socket` is the TCP socket of the websocket; `ws` writes each of its own frames to it in one call, too. */
  constructor(socket: Socket, parts: SocketWriterParts, onSlow: () => void) {
    this.#socket = socket
    this.#parts = parts
    this.#onSlow = onSlow
    this.#key = parts.sendQueues.add(socket, this)
  }

  /** Bytes that wait for the client in this process. */
  get waitingHere(): number {
    return this.#heldBytes + this.#socket.writableLength
  }

  /** Bytes that waited for the client in the kernel at the last report. */
  get waitingInKernel(): number {
    return this.#queued
  }

  push(frames: Buffer): void {
    if (this.#isEnded) return
    if (this.#heldBytes === 0 && this.#mayWrite(frames)) {
      this.#write(frames)
    } else {
      this.#held.push(frames)
      this.#heldBytes += frames.length
    }
    if (this.#heldBytes > 0 || this.#unconfirmed > MAX_UNCONFIRMED_BYTES) this.#requestReport()
    // Not at once: whoever pushes does not expect the connection to close meanwhile.
    if (this.#isSlow(this.waitingHere)) queueMicrotask(this.#onSlow)
  }

  /** As `push`, for replayed frames: more of them may be unsent. */
  pushReplay(frames: Buffer): void {
    this.#replayBytes += frames.length
    this.push(frames)
  }

  onSendQueue(bytes: number, now: number): void {
    const confirmed = bytesTakenByKernel(this.#socket) - bytes
    const hasProgress = confirmed > this.#confirmed
    this.#confirmed = confirmed
    this.#queued = bytes
    this.#unconfirmed = bytes + this.#socket.writableLength
    this.#unsent = this.#unconfirmed + this.#heldBytes
    this.#isStalled = this.#unconfirmed > 0 && !hasProgress
    if (this.#unconfirmed === 0) this.#stalledSince = null
    else if (hasProgress) this.#stalledSince = now
    else this.#stalledSince ??= now
    this.#stalledMs = now - (this.#stalledSince ?? now)
    if (this.#unsent === 0) this.#replayBytes = 0
    this.#writeHeld()
    if (this.#heldBytes > 0) this.#requestReport()
  }

  checkIsSlow(): void {
    if (this.#isSlow(this.#unsent) || this.#stalledMs >= this.#parts.stallMs) this.#onSlow()
  }

  #mayWrite(frames: Buffer): boolean {
    return !this.#isStalled || this.#unconfirmed + frames.length <= MAX_UNCONFIRMED_BYTES
  }

  #write(frames: Buffer): void {
    this.#unconfirmed += frames.length
    this.#socket.write(frames)
  }

  /** Writes what is held back, in one call, as far as it may. */
  #writeHeld(): void {
    if (this.#heldBytes === 0) return
    this.#socket.cork()
    let count = 0
    for (const frames of this.#held) {
      if (!this.#mayWrite(frames)) break
      this.#write(frames)
      this.#heldBytes -= frames.length
      count += 1
    }
    this.#held.splice(0, count)
    this.#socket.uncork()
  }

  #requestReport(): void {
    if (this.#stalledMs < PATIENCE_MS) this.#parts.sendQueues.request()
  }

  #isSlow(unsent: number): boolean {
    return !this.#isEnded && unsent > MAX_UNSENT_BYTES + Math.min(this.#replayBytes, MAX_REPLAY_BYTES)
  }

  /** Writes nothing from here on, and before it what is held back, unless the client would not read it. */
  end(isReading: boolean): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#parts.sendQueues.remove(this.#key, this)
    if (isReading) for (const frames of this.#held) this.#write(frames)
    this.#held.length = 0
    this.#heldBytes = 0
  }
}

/**
 * Bytes that the kernel has taken over the life of a socket. What Node says of itself counts a write as a whole when it
 * ends, and a slow client may take minutes for one.
 */
function bytesTakenByKernel(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null) return 0
  const [written, waiting]: unknown[] = [Reflect.get(handle, 'bytesWritten'), Reflect.get(handle, 'writeQueueSize')]
  if (typeof written === 'number' && typeof waiting === 'number') return written - waiting
  return socket.bytesWritten - socket.writableLength
}
