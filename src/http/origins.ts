import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { clientPrefixes } from './paths.ts'

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, DELETE'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept-Language, Idempotency-Key, Client-Type, Client-Version, X-Ledger-Position, X-Ledger, X-Request-Id'
const EXPOSED_HEADERS = 'Retry-After, Idempotency-Replayed, X-Ledger-Position, X-Ledger, X-Request-Id, ETag'

/** How long a browser may remember the answer to a preflight. */
const MAX_AGE_SECONDS = 600

/** Whether a request is a preflight from one of these origins for a client route. */
export function isPreflight({ method, url, headers }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin, 'access-control-request-method': requestedMethod } = headers
  return (
    method === 'OPTIONS' &&
    requestedMethod !== undefined &&
    origin !== undefined &&
    origins.includes(origin) &&
    clientPrefixes.some((prefix) => url.startsWith(`${prefix}/`))
  )
}

/**
 * Lets pages of these origins call the routes of a scope and read every response, errors included. Never with cookies:
 * clients send a token. Preflights are answered here, so the checks must be added after it.
 */
export function allowOrigins(scope: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return

  scope.addHook('onRequest', (request, reply, done) => {
    if (!isPreflight(request, origins)) return done()
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': ALLOWED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
      })
      .send()
  })

  // At the end, as routes set `Vary` themselves.
  scope.addHook('onSend', (request, reply, _payload, done) => {
    const { origin } = request.headers
    reply.header('vary', withOrigin(reply))
    if (origin !== undefined && origins.includes(origin)) {
      reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS })
    }
    done()
  })
}

function withOrigin(reply: FastifyReply): string {
  const vary = reply.getHeader('vary')
  return vary === undefined ? 'Origin' : `${String(vary)}, Origin`
}

/**
 * The service's address for clients, from configuration and never from a request's `Host`, and the origins that may
 * call it. Without PUBLIC_URL: this machine, at the listening port.
 */
export class PublicAddress {
  readonly #config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins'>
  #url: string
  #origins: ReadonlySet<string>
  #ownOrigins: ReadonlySet<string>

  constructor(config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins' | 'port'>) {
    this.#config = config
    this.#url = ''
    this.#origins = new Set()
    this.#ownOrigins = new Set()
    this.setPort(config.port)
  }

  /** With PORT=0 the port is known only once the server listens. */
  setPort(port: number): void {
    const { publicUrl, allowedOrigins } = this.#config
    const own = publicUrl === null ? [`http://127.0.0.1:${port}`, `http://localhost:${port}`] : [publicUrl]
    this.#url = publicUrl ?? `http://127.0.0.1:${port}`
    this.#ownOrigins = new Set(own.map((url) => new URL(url).origin))
    this.#origins = new Set([...this.#ownOrigins, ...allowedOrigins])
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#url
  }

  /** The base of the addresses of stored paths, without a slash at its end. */
  get assetBaseUrl(): string {
    return this.#config.assetBaseUrl ?? `${this.#url}/assets`
  }

  /** Whether pages of this origin may open sockets. */
  readonly isAllowedOrigin = (origin: string): boolean => this.#origins.has(origin)

  /** Whether this is the service's own address, and not only one that may call it. */
  readonly isOwnOrigin = (origin: string): boolean => this.#ownOrigins.has(origin)
}
