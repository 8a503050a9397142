import type { Socket } from 'node:net'

/** Unsent bytes beyond which a client is too slow, and how much more may be unsent of a backlog. */
const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024
/** Unsent bytes beyond which a backlog waits for the client. */
const BACKLOG_PAUSE_BYTES = MAX_UNSENT_BYTES / 2

/**
 * Writes whole frames to a client. Nobody waits for a client: `onSlow` is called when too much waits for it in this
 * process. What the kernel holds for it is not seen here; pings find a client that takes nothing.
 */
export class SocketWriter {
  readonly #socket: Socket
  readonly #onSlow: () => void
  #isEnded = false
  /** Replayed bytes since nothing was unsent. */
  #backlogBytes = 0
  #draining: Promise<void> | undefined

  /** `socket` is the TCP socket of the websocket; `ws` writes each of its own frames to it in one call, too. */
  constructor(socket: Socket, onSlow: () => void) {
    this.#socket = socket
    this.#onSlow = onSlow
  }

  /** Bytes that wait for the client in this process. */
  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  push(frames: Buffer): void {
    if (this.#isEnded) return
    if (this.unsentBytes === 0) this.#backlogBytes = 0
    this.#socket.write(frames)
    // Not at once: the caller does not expect the connection to close meanwhile.
    if (this.unsentBytes > MAX_UNSENT_BYTES + this.#backlogBytes) queueMicrotask(this.#onSlow)
  }

  /** As `push`, for frames of a backlog: more of them may be unsent. */
  pushBacklog(frames: Buffer): void {
    if (this.unsentBytes === 0) this.#backlogBytes = 0
    this.#backlogBytes = Math.min(this.#backlogBytes + frames.length, MAX_BACKLOG_BYTES)
    this.push(frames)
  }

  /** Resolves when little is unsent, or the socket was closed. */
  async drained(): Promise<void> {
    if (this.unsentBytes <= BACKLOG_PAUSE_BYTES) return
    // One listener for all backlogs of the socket.
    this.#draining ??= new Promise((resolve) => {
      const end = (): void => {
        this.#socket.off('drain', end).off('close', end)
        this.#draining = undefined
        resolve()
      }
      this.#socket.on('drain', end).on('close', end)
    })
    await this.#draining
  }

  /** Writes nothing from here on. */
  end(): void {
    this.#isEnded = true
  }
}

/** The first byte of an unfragmented text frame. */
const TEXT = 0x81
const MAX_SHORT_LENGTH = 125
const MAX_MEDIUM_LENGTH = 0xffff

/**
 * Messages as unmasked WebSocket frames (RFC 6455, 5.2) in one buffer: encoded once for all receivers, while `ws` would
 * encode them for each.
 */
export function encodeFrames(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  let size = 0
  for (const length of lengths) size += headerSize(length) + length
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const [i, text] of texts.entries()) {
    at = writeHeader(bytes, at, lengths[i] ?? 0)
    at += bytes.write(text, at)
  }
  return bytes
}

const headerSize = (length: number): number => (length <= MAX_SHORT_LENGTH ? 2 : length <= MAX_MEDIUM_LENGTH ? 4 : 10)

function writeHeader(bytes: Buffer, start: number, length: number): number {
  let at = bytes.writeUInt8(TEXT, start)
  if (length <= MAX_SHORT_LENGTH) return bytes.writeUInt8(length, at)
  if (length <= MAX_MEDIUM_LENGTH) {
    at = bytes.writeUInt8(126, at)
    return bytes.writeUInt16BE(length, at)
  }
  at = bytes.writeUInt8(127, at)
  return bytes.writeBigUInt64BE(BigInt(length), at)
}
