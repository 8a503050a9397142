import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { languageOf } from '../../language/request-language.ts'
import { isPreflight } from '../cors.ts'
import { type RequestLog, skipRequestLog } from '../observability/logging.ts'
import type { Metrics } from '../observability/metrics.ts'
import { clientPrefixes } from '../prefixes.ts'
import { idempotencyKeyError } from '../validation/idempotency.ts'
import { schemaError } from '../validation/validation.ts'
import { errorBody, type HttpError, InvalidPathParam, notFound } from './http-error.ts'
import { problemOf, unavailable } from './problem.ts'

/** Every error becomes `{ message, code, errors?, request_id }`. */
export function handleErrors(
  app: FastifyInstance,
  requestLog: Pick<RequestLog, 'failed'>,
  metrics: Pick<Metrics, 'refused'>,
): void {
  app.setErrorHandler((error, request, reply) => handleError(error, request, reply, { requestLog, metrics }))
  app.setNotFoundHandler(handleNotFound)
}

/** Where operators see how the process is. */
const SERVICE_PATHS: readonly (string | undefined)[] = ['/healthz', '/readyz', '/metrics']

/**
 * While `isVoid`, every request but those of operators is answered with 500 `unavailable`, without a line in the log,
 * which pages of these origins may read.
 */
export function refuseAll(app: FastifyInstance, isVoid: () => boolean, origins: readonly string[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!isVoid() || SERVICE_PATHS.includes(request.routeOptions.url) || isPreflight(request, origins)) return done()
    skipRequestLog(request)
    sendError(request, reply, unavailable())
  })
}

export const handleNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(request, reply, notFound())

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

function handleError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { requestLog, metrics }: { requestLog: Pick<RequestLog, 'failed'>; metrics: Pick<Metrics, 'refused'> },
): FastifyReply {
  const problem = problemOf(error instanceof InvalidPathParam ? (nonPathError(request) ?? error) : error)
  if (problem.status >= 500) requestLog.failed(error, request, problem.status)
  if (problem.code === 'overloaded') metrics.refused('overloaded')
  // Counted in the metrics; a log line for each would add to the load.
  if (problem.status === 429) skipRequestLog(request)
  return sendError(request, reply, problem)
}

const sendError = (request: FastifyRequest, reply: FastifyReply, problem: HttpError): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problem.headers)
    .type('application/json; charset=utf-8')
    .send(errorBody(problem, request.id, languageOf(request)))

/**
 * The first error of a request's body, query or idempotency key. Fastify checks the path first and stops at an invalid
 * one; here the path's error comes last, on every route.
 */
function nonPathError(request: FastifyRequest): HttpError | undefined {
  const { body, query, method } = request
  const checkBody = request.getValidationFunction('body')
  if (checkBody !== undefined && !checkBody(body)) return schemaError(checkBody.errors ?? [], 'body')
  const checkQuery = request.getValidationFunction('querystring')
  if (checkQuery !== undefined && !checkQuery(query)) return schemaError(checkQuery.errors ?? [], 'querystring')
  return method === 'GET' || method === 'HEAD' ? undefined : idempotencyKeyError(request)
}
