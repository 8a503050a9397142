import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { LocalizedText } from '../../../schema/languages.ts'
import { errorCode } from '../../config/error-code.ts'
import { currentResponse } from '../current-response.ts'
import { httpMessages } from '../messages.ts'
import { errorBody } from './http-error.ts'

export interface ClientFault {
  readonly status: number
  readonly code: string
  readonly text: LocalizedText
}

const MALFORMED: ClientFault = { status: 400, code: 'bad_request', text: httpMessages.malformed_http }
const FAULTS: Readonly<Record<string, ClientFault>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', text: httpMessages.headers_too_large },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', text: httpMessages.request_timeout },
}

/** Connections that are being closed; further input is ignored. */
const closing = new WeakSet<Duplex>()

/** Answers a request that Node cannot parse, or not in time, after all earlier responses, and closes the connection. */
export function handleClientError(error: Error, socket: Duplex): void {
  if (errorCode(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // Node reports an error again for whatever else arrives.
  if (closing.has(socket)) return
  closing.add(socket)
  socket.pause()
  afterResponses(socket, () => closeWithError(socket, FAULTS[errorCode(error) ?? ''] ?? MALFORMED))
}

/** Writes an error response by hand, in English: what the client prefers could not be read. Closes the connection. */
export function closeWithError(socket: Duplex, fault: ClientFault): void {
  const { status } = fault
  const requestId = randomUUID()
  const body = errorBody(fault, requestId, 'en')
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n\r\n${body}`,
    // The rest of the request is not read.
    () => socket.destroy(),
  )
}

/** Complete requests before the malformed one still run, and their client must not take its error for theirs. */
function afterResponses(socket: Duplex, then: () => void): void {
  const answer = currentResponse(socket)
  if (answer === undefined) {
    then()
  } else if (answer.req.complete) {
    answer.once('close', () => afterResponses(socket, then))
  } else if (answer.headersSent) {
    socket.destroy()
  } else {
    then()
  }
}
