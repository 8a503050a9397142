import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { WebSocket } from 'ws'
import type { CloseCode } from '../../../schema/frames.ts'
import { type AppState, clientKeysOf } from '../../http/auth/gate.ts'
import type { Sessions } from '../../http/auth/sessions.ts'
import { bearerToken, type VerifyToken } from '../../http/auth/tokens.ts'
import { HttpError, rateLimited } from '../../http/errors/http-error.ts'
import { type AddressLimit, addressKey } from '../../http/limits/address-limit.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import { socketPaths } from '../../http/paths.ts'
import { closeWithError, currentResponse } from '../../http/server-options.ts'
import { socketMessages } from '../messages.ts'
import { closeCodes } from './client.ts'
import type { SocketSession } from './connection.ts'
import type { ConnectionRegistry } from './connection-registry.ts'
import { encodeFrames } from './socket-writer.ts'

const MAX_FRAME_BYTES = 8 * 1024
/** Codes with which `ws` closes after malformed or oversized input. */
const PROTOCOL_ERROR_CODES: readonly unknown[] = [1002, 1007, 1009]
/** Query parameters in which clients of other services send tokens; addresses end up in logs. */
const TOKEN_PARAMETERS: readonly string[] = ['token', 'access_token', 'jwt', 'authorization']

interface SocketRoutesParts {
  readonly registry: ConnectionRegistry
  /** Whether pages of an origin may open sockets. */
  readonly isAllowedOrigin: (origin: string) => boolean
  readonly clientHintsOf: AppState['hintsOf']
  /** The checks of client routes, in order: those before the token is read, and those of a token that is sent. */
  readonly beforeToken: readonly onRequestHookHandler[]
  readonly tokenChecks: readonly onRequestHookHandler[]
  /** For requests without a token. */
  readonly addressLimit: AddressLimit
  readonly metrics: Pick<Metrics, 'refused'>
}

const BAD_HANDSHAKE = { status: 400, code: 'bad_handshake', text: socketMessages.bad_handshake } as const

/** Registers the routes on which clients open websockets. */
export async function registerSocketRoutes(app: FastifyInstance, parts: SocketRoutesParts): Promise<void> {
  const { registry, beforeToken, tokenChecks } = parts
  await app.register(websocket, {
    options: { perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES },
    // The registry closes the sockets instead, with a shutdown notice.
    preClose: (done) => done(),
  })
  // What only the library looks at: Sec-WebSocket-Protocol. Its own answer would be a page.
  app.websocketServer.on('wsClientError', (_error, socket) => closeWithError(socket, BAD_HANDSHAKE))
  await app.register(async (routes) => {
    for (const check of beforeToken) routes.addHook('onRequest', check)
    routes.addHook('onRequest', (request, _reply, done) => done(handshakeError(request, parts.isAllowedOrigin)))
    // Before the queue of upgrades, which a flood from one address would fill.
    routes.addHook('onRequest', (request, _reply, done) => done(addressLimitError(request, parts)))
    routes.addHook('onRequest', admit(parts))
    for (const check of tokenChecks) routes.addHook('onRequest', ifTokenIsSent(check))
    for (const path of socketPaths) {
      routes.get(path, { websocket: true, schema: { hide: true } }, (ws, request) => {
        const { socket } = request.raw
        detachRequest(ws, socket)
        mapCloseCodes(ws)
        const opened = { ws, socket, clientHints: parts.clientHintsOf(request), address: addressKey(request.ip) }
        registry.connect(opened, bearerToken(request.headers.authorization))
      })
    }
  })
  app.addHook('preClose', () => registry.drain())
}

/** Opens sockets one after the other, and refuses them while a second's worth of them waits. */
function admit({ registry, metrics }: Pick<SocketRoutesParts, 'registry' | 'metrics'>): onRequestHookHandler {
  const { returnTimes, timeSlice } = registry
  let waiting = 0
  return ({ raw }, reply, done) => {
    if (waiting < returnTimes.perSecond && !registry.isDraining) {
      waiting += 1
      return timeSlice.run(() => {
        waiting -= 1
        done()
      })
    }
    metrics.refused('sockets')
    reply.hijack()
    detachResponse(raw.socket)
    refuseUpgrade(raw.socket, raw.headers['sec-websocket-key'] ?? '', returnTimes.next(performance.now()))
  }
}

/** Releases request and response: a socket outlives them by hours, and they take more memory than all the rest of it. */
function detachRequest(ws: WebSocket, socket: Socket): void {
  // The plugin's listener, which keeps the request and would log how the connection ends.
  ws.removeAllListeners('error')
  detachResponse(socket)
}

function detachResponse(socket: Socket): void {
  currentResponse(socket)?.detachSocket(socket)
}

/** Closes with a code of ours when `ws` cannot parse what the client sends. */
function mapCloseCodes(socket: WebSocket): void {
  const close = socket.close.bind(socket)
  socket.close = (code, reason) => close(PROTOCOL_ERROR_CODES.includes(code) ? closeCodes.badFrames : code, reason)
}

/** What is wrong with an upgrade request, with or without a token. */
function handshakeError(
  { ws, headers, query }: FastifyRequest,
  isAllowedOrigin: SocketRoutesParts['isAllowedOrigin'],
): HttpError | undefined {
  if (hasTokenInUrl(query)) {
    return new HttpError(400, 'token_in_url', socketMessages.token_in_url)
  }
  if (!ws) return notAWebSocket()
  const { origin, 'sec-websocket-key': key = '', 'sec-websocket-version': version } = headers
  if (origin !== undefined && !isAllowedOrigin(origin)) {
    return new HttpError(403, 'origin_not_allowed', socketMessages.origin_not_allowed)
  }
  if (version !== '13' || !/^[+/0-9a-z]{22}==$/i.test(key)) {
    return new HttpError(BAD_HANDSHAKE.status, BAD_HANDSHAKE.code, BAD_HANDSHAKE.text)
  }
  return undefined
}

/** A client that sent an upgrade request too early may send frames next, so the connection ends. */
const notAWebSocket = (): HttpError =>
  new HttpError(400, 'not_a_websocket', socketMessages.not_a_websocket, { headers: { connection: 'close' } })

/** Limits requests without a token by address. */
function addressLimitError(
  { headers, ip }: FastifyRequest,
  { addressLimit, metrics }: Pick<SocketRoutesParts, 'addressLimit' | 'metrics'>,
): HttpError | undefined {
  if (headers.authorization !== undefined || addressLimit.take(ip)) return undefined
  metrics.refused('address')
  return rateLimited(addressLimit.retryAfter(ip))
}

const hasTokenInUrl = (query: unknown): boolean =>
  typeof query === 'object' &&
  query !== null &&
  Object.keys(query).some((name) => TOKEN_PARAMETERS.includes(name.toLowerCase()))

const ifTokenIsSent = (check: onRequestHookHandler): onRequestHookHandler =>
  function (request, reply, done) {
    if (request.headers.authorization === undefined) done()
    else check.call(this, request, reply, done)
  }

/** RFC 6455, 1.3. */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** How long a client may take to close its side, whatever it sends meanwhile. */
const LINGER_MS = 1_000
/** An unmasked close frame with a code of two bytes. */
const CLOSE_HEADER = [0x88, 2]

/**
 * Accepts an upgrade only to close it: with `bye`, which tells when to come back, and 4100. An HTTP error would tell
 * browsers nothing. One write, and no `WebSocket`: it has to be cheap. `key` is the client's Sec-WebSocket-Key.
 */
function refuseUpgrade(socket: Socket, key: string, retryMs: number): void {
  const accept = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64')
  const code = closeCodes.capacity
  const close = Buffer.from([...CLOSE_HEADER, code >> 8, code & 0xff])
  const handshake = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
  const bye = encodeFrames([JSON.stringify({ t: 'bye', code, retry_ms: retryMs })])
  socket.end(Buffer.concat([Buffer.from(handshake), bye, close]))
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(lingering))
  // What it still sends, its close frame at least, is not of interest.
  socket.resume()
}

/**
 * Checks a token and calls `onResult` in the same turn as the check: a revocation either comes before and is seen here,
 * or after and reaches the connection, which is registered by then. Rejects when the database is unreachable.
 */
export const authenticateWith =
  (readToken: VerifyToken, sessions: Pick<Sessions, 'validAfter' | 'load'>) =>
  async (text: string, onResult: (result: SocketSession | CloseCode) => void): Promise<void> => {
    const token = readToken(text)
    if (token instanceof HttpError) return onResult(token.status === 440 ? closeCodes.tokenExpired : closeCodes.token)
    const { caller, issuedAt, expiresAt } = token
    if (caller?.kind !== 'user') return onResult(closeCodes.forbidden)
    for (;;) {
      const validAfter = sessions.validAfter(caller.id)
      if (validAfter !== undefined) {
        const session = { userId: caller.id, issuedAt, expiresAt, clientKeys: clientKeysOf(text) }
        return onResult(issuedAt < validAfter ? closeCodes.token : session)
      }
      if ((await sessions.load(caller.id)) === null) return onResult(closeCodes.token)
    }
  }
