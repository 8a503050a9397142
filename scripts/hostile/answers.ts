/** What was heard. */
export interface Answer {
  readonly status: number
  /** By name in lower case; of several of a name the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** Cuts a stream of bytes into answers. */
export class AnswerReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Whether there is half of an answer. */
  get partial(): boolean {
    return this.#rest.length > 0
  }

  /** The answers that are complete now. `isHead` tells of the next one whether it comes without its body. */
  read(chunk: Buffer, isHead: () => boolean): Answer[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const answers: Answer[] = []
    for (let one = this.#one(isHead); one !== null; one = this.#one(isHead)) {
      // 100 Continue only tells that an answer is to come.
      if (one.status >= 200) answers.push(one)
    }
    return answers
  }

  #one(isHead: () => boolean): Answer | null {
    const headEnd = this.#rest.indexOf(END_OF_HEAD)
    if (headEnd === -1) return null
    const [first = '', ...lines] = this.#rest.toString('latin1', 0, headEnd).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
    if (Number.isNaN(status)) throw new Error(`not an answer: ${first.slice(0, 100)}`)
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const body = status < 200 || isHead() ? nothing : bodyOf(this.#rest, headEnd + END_OF_HEAD.length, headers)
    if (body === null) return null
    this.#rest = this.#rest.subarray(body === nothing ? headEnd + END_OF_HEAD.length : body.end)
    return { status, headers, text: body.text }
  }
}

interface Body {
  readonly text: string
  /** Where the bytes behind it begin. */
  readonly end: number
}

const nothing: Body = { text: '', end: 0 }

/** The body that begins there; null when it has not come whole. */
function bodyOf(bytes: Buffer, start: number, headers: ReadonlyMap<string, string>): Body | null {
  if (headers.get('transfer-encoding') === 'chunked') return chunkedBody(bytes, start)
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error('an answer without a length')
  const end = start + length
  return bytes.length < end ? null : { text: bytes.toString('utf8', start, end), end }
}

const LINE_BREAK = '\r\n'

/** An answer that is streamed: chunks, each behind its length, and an empty one. */
function chunkedBody(bytes: Buffer, start: number): Body | null {
  const chunks: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = bytes.indexOf(LINE_BREAK, at)
    if (lineEnd === -1) return null
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(length)) throw new Error('a chunk without a length')
    const begin = lineEnd + LINE_BREAK.length
    const end = begin + length + LINE_BREAK.length
    if (bytes.length < end) return null
    if (length === 0) return { text: Buffer.concat(chunks).toString('utf8'), end }
    chunks.push(bytes.subarray(begin, begin + length))
    at = end
  }
}
