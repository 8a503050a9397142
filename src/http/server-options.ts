import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyHttpOptions, FastifyInstance, preParsingHookHandler } from 'fastify'
import type { LocalizedText } from '../../schema/languages.ts'
import { errorCode } from '../config/error-code.ts'
import { errorBody, HttpError } from './errors/http-error.ts'
import { httpMessages } from './messages.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/**
 * For a connection without traffic in either direction, longer than any response takes. When the client does not read its
 * responses, Node notices only at the second check, after twice as long.
 */
export const IDLE_TIMEOUT_MS = 45_000
const TIMEOUT_CHECK_INTERVAL_MS = 1_000

/** Timeouts of connections, so that a slow client cannot hold one for ever. */
export const serverOptions = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionTimeout: IDLE_TIMEOUT_MS,
  clientErrorHandler: handleClientError,
  http: {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Node's own response would lack our error body; see `checkFraming`.
    requireHostHeader: false,
  },
} satisfies FastifyHttpOptions<Server>

/** Answers requests that Node itself would answer without our error body, or not at all. */
export function handleMalformedRequests(app: FastifyInstance): void {
  app.addHook('preParsing', checkFraming)
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', refuseConnect)
}

/** For a server's `connect` event. */
function refuseConnect(_request: IncomingMessage, socket: Duplex): void {
  // Node no longer handles this socket: without a listener a reset would end the process.
  socket.on('error', () => socket.destroy())
  closeWithError(socket, {
    status: 400,
    code: 'bad_request',
    text: httpMessages.connect,
  })
}

/** Refuses what HTTP/1.1 requires servers to refuse and Node accepts; runs after the checks of the caller. */
const checkFraming: preParsingHookHandler = ({ raw }, _reply, _payload, done) => {
  const { headers, rawHeaders, httpVersion } = raw
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length
  if (hosts !== 1 && (hosts > 1 || httpVersion === '1.1')) return done(malformed(httpMessages.one_host))
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return done(malformed(httpMessages.transfer_coding))
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return done(new HttpError(417, 'expectation_failed', httpMessages.expectation_failed))
  }
  done()
}

const malformed = (text: LocalizedText): HttpError =>
  new HttpError(400, 'bad_request', text, { headers: { connection: 'close' } })

interface ClientFault {
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
function handleClientError(error: Error, socket: Duplex): void {
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

/**
 * The response that is being written to a connection; undefined when every request on it is answered. Node keeps it in
 * `_httpMessage`, and the response to the next pipelined request takes its place.
 */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return response instanceof ServerResponse ? response : undefined
}
