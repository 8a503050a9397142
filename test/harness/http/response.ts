const END_OF_HEAD = Buffer.from('\r\n\r\n')

export interface HttpResponse {
  readonly status: number
  /** By lower-case name; the last one of several with the same name. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

interface ResponseHead {
  readonly status: number
  /** Status line and headers. */
  readonly text: string
  readonly bodyStart: number
}

/** The head at the start of the bytes; null while it is incomplete. Throws when it is not HTTP/1.1. */
export function readHead(bytes: Buffer): ResponseHead | null {
  const end = bytes.indexOf(END_OF_HEAD)
  if (end === -1) return null
  const text = bytes.toString('latin1', 0, end)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  if (status === undefined) throw new Error(`not an HTTP/1.1 response: ${text.slice(0, 100)}`)
  return { status: Number(status), text, bodyStart: end + END_OF_HEAD.length }
}

/** Bytes of the body; null when the head does not say. */
export function contentLengthOf(head: ResponseHead): number | null {
  if (isWithoutBody(head.status)) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(head.text)?.[1]
  return length === undefined ? null : Number(length)
}

const isWithoutBody = (status: number): boolean => status < 200 || status === 204 || status === 304

/** Splits a stream of bytes into responses. */
export class ResponseReader {
  #rest: Buffer = Buffer.alloc(0)

  /** The responses that are complete with this chunk. `isHead`: whether the next one answers HEAD and has no body. */
  read(chunk: Buffer, isHead: () => boolean = () => false): HttpResponse[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const responses: HttpResponse[] = []
    for (let next = this.#next(isHead); next !== null; next = this.#next(isHead)) {
      // 100 Continue is followed by the response itself.
      if (next.status >= 200) responses.push(next)
    }
    return responses
  }

  #next(isHead: () => boolean): HttpResponse | null {
    const head = readHead(this.#rest)
    if (head === null) return null
    const { status, bodyStart } = head
    const headers = headersOf(head)
    const hasBody = !isWithoutBody(status) && !isHead()
    if (hasBody && headers.get('transfer-encoding') === 'chunked') return this.#readChunked(status, headers, bodyStart)
    const length = hasBody ? contentLengthOf(head) : 0
    if (length === null) throw new Error(`a response without a length: ${head.text}`)
    if (this.#rest.length < bodyStart + length) return null
    const text = this.#rest.toString('utf8', bodyStart, bodyStart + length)
    this.#rest = this.#rest.subarray(bodyStart + length)
    return { status, headers, text }
  }

  /** A chunked body: each chunk follows its length in hex, and the last one is empty. */
  #readChunked(status: number, headers: HttpResponse['headers'], bodyStart: number): HttpResponse | null {
    const chunks: Buffer[] = []
    for (let at = bodyStart; ; ) {
      const lineEnd = this.#rest.indexOf('\r\n', at)
      if (lineEnd === -1) return null
      const length = Number.parseInt(this.#rest.toString('latin1', at, lineEnd), 16)
      if (Number.isNaN(length)) throw new Error('a chunk without a length')
      const start = lineEnd + 2
      if (this.#rest.length < start + length + 2) return null
      at = start + length + 2
      if (length > 0) {
        chunks.push(this.#rest.subarray(start, start + length))
        continue
      }
      this.#rest = this.#rest.subarray(at)
      return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
    }
  }
}

function headersOf({ text }: ResponseHead): ReadonlyMap<string, string> {
  const [, ...lines] = text.split('\r\n')
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}
