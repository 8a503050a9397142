const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** Where a response is in its bytes. */
export interface Response {
  readonly status: number
  /** Where the body begins. */
  readonly body: number
  /** Where the response ends. */
  readonly end: number
}

/**
 * The response at the start of the bytes; null when it is not complete yet. Reads no more than it must: the status and
 * the length. Throws for one that is not HTTP/1.1 with a content-length.
 */
export function readResponse(bytes: Buffer): Response | null {
  const headEnd = bytes.indexOf(END_OF_HEAD)
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (status === undefined || length === undefined) throw new Error(`not a response that can be read: ${head}`)
  const body = headEnd + END_OF_HEAD.length
  const end = body + Number(length)
  return end > bytes.length ? null : { status: Number(status), body, end }
}
