import type { FastifyInstance, FastifyReply } from 'fastify'

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, DELETE'
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept-Language, Idempotency-Key, Client-Type, Client-Version, X-Ledger-Position, X-Ledger'
const EXPOSED_HEADERS = 'Retry-After, Idempotency-Replayed, X-Ledger-Position, X-Ledger, ETag'

/** How long a browser may remember the answer to a preflight. */
const MAX_AGE_SECONDS = 600

/**
 * Lets pages of these origins call the routes of a scope and read every response, errors included. Never with cookies:
 * clients send a token. Preflights are answered here, so the checks must be added after it.
 */
export function allowOrigins(scope: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)

  scope.addHook('onRequest', (request, reply, done) => {
    const { origin, 'access-control-request-method': requestedMethod } = request.headers
    const isPreflight = request.method === 'OPTIONS' && requestedMethod !== undefined
    if (!isPreflight || origin === undefined || !allowed.has(origin)) return done()
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
    if (origin !== undefined && allowed.has(origin)) {
      reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS })
    }
    done()
  })
}

function withOrigin(reply: FastifyReply): string {
  const vary = reply.getHeader('vary')
  return vary === undefined ? 'Origin' : `${String(vary)}, Origin`
}
