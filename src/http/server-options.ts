import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyHttpOptions, FastifyInstance, preParsingHookHandler } from 'fastify'
import type { LocalizedText } from '../../schema/languages.ts'
import { closeWithError, handleClientError } from './errors/client-errors.ts'
import { HttpError } from './errors/http-error.ts'
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
