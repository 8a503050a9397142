import { randomUUID } from 'node:crypto'
import { ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorCode } from '../../config/error-code.ts'
import { errorBody } from './http-error.ts'

export interface ClientFault {
  readonly status: number
  readonly code: string
  readonly message: string
}

const MALFORMED: ClientFault = { status: 400, code: 'bad_request', message: 'This is not HTTP.' }
const FAULTS: Readonly<Record<string, ClientFault>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'The request took too long to arrive.' },
}

/** Connections on which nothing is listened to any more. */
const closing = new WeakSet<Duplex>()

/** Answers what Node cannot read as a request, or not in time, after all that was asked before it, and hangs up. */
export function handleClientError(error: Error, socket: Duplex): void {
  if (errorCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // Whatever else arrives is complained of again.
  if (closing.has(socket)) return
  closing.add(socket)
  socket.pause()
  afterResponses(socket, () => closeWithError(socket, FAULTS[errorCode(error) ?? ''] ?? MALFORMED))
}

/** Writes an error's answer by hand and closes the connection. */
export function closeWithError(socket: Duplex, { status, code, message }: ClientFault): void {
  const requestId = randomUUID()
  const body = errorBody(message, code, requestId)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n\r\n${body}`,
    // The rest of what is being sent is of no interest.
    () => socket.destroy(),
  )
}

/**
 * Requests that came whole before what cannot be read are worked on: what they did must not be answered with an error
 * that is another's. Node keeps the answer that is being written in `_httpMessage`, and those behind it take its place.
 */
function afterResponses(socket: Duplex, then: () => void): void {
  const answer: unknown = Reflect.get(socket, '_httpMessage')
  if (!(answer instanceof ServerResponse)) {
    then()
  } else if (answer.req.complete) {
    answer.once('close', () => afterResponses(socket, then))
  } else if (answer.headersSent) {
    socket.destroy()
  } else {
    then()
  }
}
