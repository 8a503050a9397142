import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { WebSocket } from 'ws'
import type { AppState } from '../../http/auth/gate.ts'
import { bearerToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/errors.ts'
import { rateLimited } from '../../http/errors/problem.ts'
import type { AddressLimit } from '../../http/limits/address-limit.ts'
import { addressKey } from '../../http/limits/client-address.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import { socketPaths } from '../../http/upgrades.ts'
import { closeCodes } from './close-codes.ts'
import type { ConnectionRegistry } from './connection-registry.ts'

/** Bytes of a client's message. */
const MAX_FRAME_BYTES = 8 * 1024
/** What `ws` closes with when it does not understand what it reads. */
const PROTOCOL_ERROR_CODES: readonly unknown[] = [1002, 1007, 1009]

export interface UpgradeParts {
  readonly registry: ConnectionRegistry
  /** Whether pages of an origin may open sockets. */
  readonly isAllowedOrigin: (origin: string) => boolean
  readonly clientHintsOf: AppState['shownBy']
  /** The checks of every client route, in their order: those before a token is looked at, and those of one that is there. */
  readonly beforeToken: readonly onRequestHookHandler[]
  readonly tokenChecks: readonly onRequestHookHandler[]
  /** For those who bring no token. */
  readonly addressLimit: AddressLimit
  readonly metrics: Pick<Metrics, 'refused'>
}

/** The doors through which sockets come. */
export async function registerSocketRoutes(app: FastifyInstance, parts: UpgradeParts): Promise<void> {
  const { registry, beforeToken, tokenChecks } = parts
  await app.register(websocket, {
    options: { perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES },
    // The lobby says goodbye.
    preClose: (done) => done(),
  })
  await app.register(async (doors) => {
    for (const check of beforeToken) doors.addHook('onRequest', check)
    doors.addHook('onRequest', (request, _reply, done) => done(handshakeError(request, parts.isAllowedOrigin)))
    for (const check of tokenChecks) doors.addHook('onRequest', ifToken(check))
    doors.addHook('onRequest', (request, _reply, done) => done(addressLimitError(request, parts)))
    for (const path of socketPaths) {
      doors.get(path, { websocket: true, schema: { hide: true } }, (ws, request) => {
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

/** A socket outlives its request by hours: what holds on to request and reply takes more memory than all the rest. */
function detachRequest(ws: WebSocket, socket: Socket): void {
  // The plugin's, which would only log what a connection ends with.
  ws.removeAllListeners('error')
  const answer: unknown = Reflect.get(socket, '_httpMessage')
  if (answer instanceof ServerResponse) answer.detachSocket(socket)
}

/** What cannot be read closes a socket with a code of ours. */
function mapCloseCodes(socket: WebSocket): void {
  const close = socket.close.bind(socket)
  socket.close = (code, reason) => close(PROTOCOL_ERROR_CODES.includes(code) ? closeCodes.badFrames : code, reason)
}

/** What is wrong with a request for a socket, whoever sends it. */
function handshakeError(
  { ws, headers, query }: FastifyRequest,
  isAllowedOrigin: UpgradeParts['isAllowedOrigin'],
): HttpError | undefined {
  if (hasTokenInUrl(query)) return new HttpError(400, 'token_in_url', 'A token does not belong into an address.')
  if (!ws) return new HttpError(400, 'not_a_websocket', 'This is for websockets.')
  const { origin, 'sec-websocket-key': key = '', 'sec-websocket-version': version } = headers
  if (origin !== undefined && !isAllowedOrigin(origin)) {
    return new HttpError(403, 'origin_not_allowed', 'Pages of this origin may not open sockets.')
  }
  if (version !== '13' || !/^[+/0-9a-z]{22}==$/i.test(key)) {
    return new HttpError(400, 'bad_handshake', 'This is not how a websocket is opened.')
  }
  return undefined
}

/** What is against a request without a token: too many of its address. */
function addressLimitError(
  { headers, ip }: FastifyRequest,
  { addressLimit, metrics }: Pick<UpgradeParts, 'addressLimit' | 'metrics'>,
): HttpError | undefined {
  if (headers.authorization !== undefined || addressLimit.take(ip)) return undefined
  metrics.refused('address')
  return rateLimited(addressLimit.retryAfter(ip))
}

const hasTokenInUrl = (query: unknown): boolean => typeof query === 'object' && query !== null && 'token' in query

const ifToken = (check: onRequestHookHandler): onRequestHookHandler =>
  function (request, reply, done) {
    if (request.headers.authorization === undefined) done()
    else check.call(this, request, reply, done)
  }
