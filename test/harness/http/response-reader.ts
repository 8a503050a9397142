/** What was heard. */
export interface HttpResponse {
  readonly status: number
  /** By name in lower case; of several of a name the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** Cuts a stream of bytes into answers. */
export class ResponseReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Whether there is half of an answer. */
  get partial(): boolean {
    return this.#rest.length > 0
  }

  /** The answers that are complete now. `isHead` tells of the next one whether it comes without its body. */
  read(chunk: Buffer, isHead: () => boolean): HttpResponse[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const answers: HttpResponse[] = []
    for (let one = this.#one(isHead); one !== null; one = this.#one(isHead)) {
      // 100 Continue only tells that an answer is to come.
      if (one.status >= 200) answers.push(one)
    }
    return answers
  }

  #one(isHead: () => boolean): HttpResponse | null {
    const headEnd = this.#rest.indexOf(END_OF_HEAD)
    if (headEnd === -1) return null
    const [first = '', ...lines] = this.#rest.toString('latin1', 0, headEnd).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
    if (Number.isNaN(status)) throw new Error(`not an answer: ${first.slice(0, 100)}`)
    const headers = new Map(
      lines.map((connection) => {
        const colon = connection.indexOf(':')
        return [connection.slice(0, colon).toLowerCase(), connection.slice(colon + 1).trim()]
      }),
    )
    const start = headEnd + END_OF_HEAD.length
    const bodiless = status < 200 || isHead()
    if (!bodiless && headers.get('transfer-encoding') === 'chunked') return this.#chunked(status, headers, start)
    const length = bodiless ? 0 : Number(headers.get('content-length') ?? Number.NaN)
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${first}`)
    if (this.#rest.length < start + length) return null
    const text = this.#rest.toString('utf8', start, start + length)
    this.#rest = this.#rest.subarray(start + length)
    return { status, headers, text }
  }

  /** An answer in chunks, each behind its length in hex; the last one is empty. */
  #chunked(status: number, headers: HttpResponse['headers'], start: number): HttpResponse | null {
    const chunks: Buffer[] = []
    for (let place = start; ; ) {
      const lineEnd = this.#rest.indexOf('\r\n', place)
      if (lineEnd === -1) return null
      const length = Number.parseInt(this.#rest.toString('latin1', place, lineEnd), 16)
      if (Number.isNaN(length)) throw new Error('a chunk without a length')
      const begin = lineEnd + 2
      if (this.#rest.length < begin + length + 2) return null
      place = begin + length + 2
      if (length > 0) {
        chunks.push(this.#rest.subarray(begin, begin + length))
        continue
      }
      this.#rest = this.#rest.subarray(place)
      return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
    }
  }
}
