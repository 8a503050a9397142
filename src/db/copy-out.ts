import type { Client, Connection, Submittable } from 'pg'

/** A message begins with its code and its length, which counts itself and not the code. */
export const MESSAGE_HEADER = 5
const LENGTH = 1
/** Of a message that is a row: CopyData. */
export const ROW = 'd'.charCodeAt(0)
/** Besides rows, what comes before them and what may come between: anything else ends a COPY. */
const CONTROL_MESSAGES = new Set(Array.from('HNAS', (code) => code.charCodeAt(0)))

/** Pages that may wait to be taken; the server waits then. */
const MAX_WAITING_PAGES = 4
const EMPTY = Buffer.alloc(0)

/** The bytes of whole messages. Its memory is that of no other page. */
export type Page = Buffer<ArrayBuffer>

/** Where the message ends that begins there. */
export const endOfMessage = (bytes: Buffer, start: number): number =>
  start + LENGTH + bytes.readUInt32BE(start + LENGTH)

/**
 * What the server sends for `copy … to stdout`: pages of at least so many bytes, save the last one, each of whole
 * messages and in memory of its own. Each row is a message. Whoever leaves early waits for the rest, as the
 * connection serves nothing else before.
 *
 * As pg-copy-streams does, but that takes every row out of what came, for us to put them together again: with it a
 * verification of the books takes some percent longer.
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

/** Takes what comes out of the connection's hands until the COPY is over. */
class CopyOut implements Submittable {
  readonly #copy: string
  readonly #pageBytes: number
  #connection: Connection | undefined
  /** What came and is on no page yet, its size, and how much of it are whole messages. */
  #chunks: Buffer[] = []
  #size = 0
  #wholeBytes = 0
  /** The first letters of a header that was cut, or else how far behind what came the next message begins. */
  #partialHeader: Buffer = EMPTY
  #nextMessageOffset = 0
  readonly #pages: Page[] = []
  #isComplete = false
  #failure: Error | undefined
  /** Whoever waits for a page, or for the end. */
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
    // Of listeners nobody knows what they take; those of a stream's data take bytes.
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

  /** What is no message of the COPY's any more, if that came. */
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
