import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { currentResponse } from './server-options.ts'

/** Every client route answers under both. */
export const clientPrefixes = ['/api/v1', '/v1'] as const
export type ClientPrefix = (typeof clientPrefixes)[number]

/** The paths of the websocket. */
export const socketPaths: readonly string[] = ['/ws', '/v1/ws', '/api/v1/ws']

/**
 * Whether an upgrade request becomes a websocket; all others are answered as ordinary requests. So is one that was sent
 * before the response to an earlier request ended: until then the connection cannot be taken over.
 */
export function isSocketUpgrade({
  method,
  url = '',
  headers,
  socket,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>): boolean {
  return (
    method === 'GET' &&
    socketPaths.includes(url.replace(/[?#].*$/s, '').replace(/\/$/, '')) &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    currentResponse(socket) === undefined
  )
}

/** The app's checks run before everything under these. */
const GUARDED_PREFIXES = [...clientPrefixes, '/admin/v1', '/console']

/**
 * Requests whose path cannot be decoded: Fastify rejects them before routing, and no hook sees them. They are routed
 * again to a path that matches no route, so that the checks of their prefix run.
 */
export function handleUnroutable(_error: FastifyError, { raw, server }: FastifyRequest, reply: FastifyReply): void {
  const { url = '' } = raw
  unroutable.set(raw, url)
  server.routing(Object.assign(raw, { url: unmatched(url) }), reply.raw)
}

/** A prefix with encoded letters, as in `/%61dmin/v1`: a proxy that closes prefixes by their letters would let it through. */
const ENCODED_PREFIX = /^\/((admin|api)\/)?[^/?]*%/

/** What requests asked for that are routed a second time. */
const unroutable = new WeakMap<object, string>()

/** The address that a request is routed by: one with encoded letters in its prefix matches no route. */
export function routedUrl(raw: { readonly url?: string | undefined }): string {
  const { url = '' } = raw
  const asked = unroutable.get(raw)
  // Fastify takes what it routes by for that which was asked for, which logs show.
  if (asked !== undefined) Object.assign(raw, { originalUrl: asked })
  return ENCODED_PREFIX.test(withoutOrigin(url)) ? unmatched(url) : url
}

/** An address below the same prefix that no route matches. The query is kept: it may have the client's hints. */
function unmatched(url: string): string {
  // As the router reads it: without an origin, and percent-encoded letters decoded.
  const [address = '', ...query] = url.split('?')
  const path = withoutOrigin(address).replace(/%([2-7][0-9a-f])/gi, (_, code: string) => charOf(code))
  const scope = GUARDED_PREFIXES.find((prefix) => path.startsWith(`${prefix}/`)) ?? ''
  return [`${scope}/${UNMATCHED_PATH}`, ...query].join('?')
}

const withoutOrigin = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '')

/** No route matches it. */
const UNMATCHED_PATH = '%00'

const charOf = (code: string): string => String.fromCharCode(Number.parseInt(code, 16))
