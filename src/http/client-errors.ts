import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorCode } from '../error-code.ts'
import { errorText } from './errors.ts'

interface Fault {
  readonly status: number
  readonly code: string
  readonly message: string
}

const malformed: Fault = { status: 400, code: 'bad_request', message: 'This is not HTTP.' }
const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'The request took too long to arrive.' },
}

/** Answers what Node cannot read as a request, and hangs up. */
export function answerClientError(error: Error, socket: Socket): void {
  if (errorCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, message } = faults[errorCode(error) ?? ''] ?? malformed
  const requestId = randomUUID()
  const body = errorText(message, code, requestId)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n\r\n${body}`,
    // The rest of what is being sent is of no interest.
    () => socket.destroy(),
  )
}
