import type { Socket } from 'node:net'
import { connectionKey, readSendQueues } from './tcp-send-queues.ts'

/** The pause after a read for each millisecond of CPU time that it took, the longest one, and the least before a request. */
const PAUSE_PER_BUSY_MS = 50
const MAX_PAUSE_MS = 10_000
const MIN_PAUSE_MS = 20

/** A socket, as its send queue is reported to it. */
export interface QueueReader {
  /** Gets the bytes that the kernel holds for the client, 0 where the system does not tell. */
  onSendQueue(bytes: number, now: number): void
  /** Called regularly, after a report: judges by what that showed. */
  checkIsSlow(): void
}

/**
 * Reads the kernel's send queues, regularly and soon after a socket asks for it, and reports to each socket its own. After
 * a storm the kernel lists each closed connection for a minute, too, and a read takes a second of CPU time: the pauses
 * keep the reads below a fiftieth of the event loop's time, as long as none takes more than a fifth of a second.
 */
export class SendQueueMonitor {
  readonly #onError: (error: unknown) => void
  readonly #read: typeof readSendQueues
  readonly #now: () => number
  readonly #readers = new Map<string, QueueReader>()
  /** False on systems that do not list the queues, and while they cannot be read. */
  #isAvailable = true
  #reading: Promise<void> | undefined
  /** Whether a socket waits for a read that begins later than its request. */
  #isRequested = false
  #timer: NodeJS.Timeout | undefined
  /** When the last read ended, by `performance.now()`, and how long none begins after it. */
  #readAt = 0
  #pauseMs = 0

  /** `onError` gets the first error while the queues cannot be read. */
  constructor(onError: (error: unknown) => void, read = readSendQueues, now = () => performance.now()) {
    this.#onError = onError
    this.#read = read
    this.#now = now
  }

  /** Reports to `reader` from the next read on. Returns the key with which to remove it. */
  add(socket: Socket, reader: QueueReader): string {
    // A socket that is closed already is in no report.
    const key = connectionKey(socket) ?? ''
    this.#readers.set(key, reader)
    return key
  }

  remove(key: string, reader: QueueReader): void {
    // The client's system may have used the port again.
    if (this.#readers.get(key) === reader) this.#readers.delete(key)
  }

  /** Asks for a report soon. */
  request(): void {
    if (this.#isRequested || !this.#isAvailable) return
    this.#isRequested = true
    if (this.#reading === undefined) this.#readAfterPause()
  }

  /**
   * Reports to all sockets, and has them check whether their client is too slow: not in a pause, as an old report tells
   * nothing of what the client has taken since. To be called regularly.
   */
  async check(): Promise<void> {
    if (this.#readers.size === 0 || performance.now() < this.#readAt + this.#pauseMs) return
    await this.#report()
    for (const reader of this.#readers.values()) reader.checkIsSlow()
  }

  #report(): Promise<void> {
    return (this.#reading ??= this.#readAndReport())
  }

  #readAfterPause(): void {
    const pause = Math.max(0, this.#readAt + Math.max(MIN_PAUSE_MS, this.#pauseMs) - performance.now())
    this.#timer = setTimeout(() => void this.#report(), pause).unref()
  }

  async #readAndReport(): Promise<void> {
    this.#isRequested = false
    clearTimeout(this.#timer)
    const now = this.#now()
    let busyMs: number | null = null
    try {
      busyMs = await this.#read((key, bytes) => this.#readers.get(key)?.onSendQueue(bytes, now))
    } catch (error) {
      if (this.#isAvailable) this.#onError(error)
    }
    this.#isAvailable = busyMs !== null
    if (busyMs === null) for (const reader of this.#readers.values()) reader.onSendQueue(0, now)
    this.#readAt = performance.now()
    this.#pauseMs = Math.min(MAX_PAUSE_MS, (busyMs ?? 0) * PAUSE_PER_BUSY_MS)
    this.#reading = undefined
    if (this.#isRequested) this.#readAfterPause()
  }
}
