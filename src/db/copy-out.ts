import type { Client, Connection, Submittable } from 'pg'

/** A message begins with its code and its length, which counts itself and not the code. */
export const MESSAGE_HEADER = 5
const LENGTH = 1
/** Of a message that is a row: CopyData. */
export const ROW = 'd'.charCodeAt(0)
/** Messages that may come before or between the rows; any other ends the COPY. */
const CONTROL_MESSAGES = new Set(Array.from('HNAS', (code) => code.charCodeAt(0)))

/** Pages that may wait for the reader; beyond, the socket is paused. */
const MAX_WAITING_PAGES = 4
const EMPTY = Buffer.alloc(0)

/** The bytes of whole messages, in memory shared with no other page. */
export type Page = Buffer<ArrayBuffer>

/** Where the message that begins at `start` ends. */
export const endOfMessage = (bytes: Buffer, start: number): number =>
  start + LENGTH + bytes.readUInt32BE(start + LENGTH)

/**
 * Yields what the server sends for `copy … to stdout` in pages of at least `pageBytes`, except the last. Each row is one
 * message. A caller that stops early waits for the rest, because the connection serves nothing else before.
 *
 * pg-copy-streams extracts every row, which would have to be joined again: `verify` takes some percent longer with it.
 */
export async function* copyOut(client: Client, copy: string, pageBytes: number): AsyncGenerator<Page, void> {
  const reading = client.query(new CopyOut(copy, pageBytes))
  try {
    for (;;) {
      const page = await reading.next()
      if (page === undefined) return
      yield page
    }
  } finally {
    while ((await reading.next()) !== undefined) continue
  }
}

/** Reads the connection's data itself until the COPY is complete. */
class CopyOut implements Submittable {
  readonly #copy: string
  readonly #pageBytes: number
  #connection: Connection | undefined
  /** Data of the next page, its size, and how much of it is whole messages. */
  #chunks: Buffer[] = []
  #size = 0
  #wholeBytes = 0
  /** The start of a header that was cut, or else how far after the data the next message begins. */
  #partialHeader: Buffer = EMPTY
  #nextMessageOffset = 0
  readonly #pages: Page[] = []
  #isComplete = false
  #failure: Error | undefined
  /** Wakes the reader that waits for a page or for the end. */
  #wake: () => void = () => {}

  constructor(copy: string, pageBytes: number) {
    this.#copy = copy
    this.#pageBytes = pageBytes
  }

  /** The next page; undefined when there is none. Rejects with the database's error. */
  async next(): Promise<Page | undefined> {
    for (;;) {
      const page = this.#pages.shift()
      if (page !== undefined) {
        this.#connection?.stream.resume()
        return page
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isComplete) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  submit(connection: Connection): void {
    this.#connection = connection
    const { stream } = connection
    // Listeners are typed as any function; those of a stream's data take bytes.
    const previousListeners = stream.listeners('data') as ((bytes: Buffer) => void)[]
    stream.removeAllListeners('data')
    const onData = (chunk: Buffer): void => {
      const rest = this.#consume(chunk)
      if (this.#pages.length >= MAX_WAITING_PAGES) stream.pause()
      this.#wake()
      if (rest === undefined) return
      this.#connection = undefined
      stream.removeListener('data', onData)
      for (const listener of previousListeners) stream.on('data', listener)
      stream.resume()
      for (const listener of previousListeners) listener(rest)
    }
    stream.on('data', onData)
    connection.query(this.#copy)
  }

  handleError(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  handleCommandComplete(): void {
    // The connection is this query's until it is ready for the next one.
  }

  handleReadyForQuery(): void {
    this.#isComplete = true
    this.#wake()
  }

  /** Returns what follows the COPY's last message, once that has arrived. */
  #consume(chunk: Buffer): Buffer | undefined {
    const bytes = this.#partialHeader.length === 0 ? chunk : Buffer.concat([this.#partialHeader, chunk])
    let at = this.#nextMessageOffset
    while (at + MESSAGE_HEADER <= bytes.length) {
      const code = bytes[at] ?? 0
      if (code !== ROW && !CONTROL_MESSAGES.has(code)) {
        this.#append(bytes.subarray(0, at))
        this.#wholeBytes = this.#size
        this.#finishPage()
        return bytes.subarray(at)
      }
      this.#wholeBytes = this.#size + at
      at = endOfMessage(bytes, at)
    }
    if (at <= bytes.length) this.#wholeBytes = this.#size + at
    const end = Math.min(at, bytes.length)
    this.#append(bytes.subarray(0, end))
    this.#partialHeader = bytes.subarray(end)
    this.#nextMessageOffset = at - end
    if (this.#wholeBytes >= this.#pageBytes) this.#finishPage()
    return undefined
  }

  #append(part: Buffer): void {
    this.#chunks.push(part)
    this.#size += part.length
  }

  #finishPage(): void {
    if (this.#wholeBytes === 0) return
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    let at = 0
    for (const part of this.#chunks) at += part.copy(bytes, at)
    this.#pages.push(bytes.subarray(0, this.#wholeBytes))
    const rest = Buffer.from(bytes.subarray(this.#wholeBytes))
    this.#chunks = [rest]
    this.#size = rest.length
    this.#wholeBytes = 0
  }
}
