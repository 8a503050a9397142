import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { languageOf } from '../../language/request-language.ts'
import { type RequestLog, skipRequestLog } from '../observability/logging.ts'
import type { Metrics } from '../observability/metrics.ts'
import { isPreflight } from '../origins.ts'
import { idempotencyKeyError } from '../validation/request-parts.ts'
import { schemaError } from '../validation/validation.ts'
import { errorBody, type HttpError, InvalidPathParam, notFound, problemOf, unavailable } from './http-error.ts'

/** Every error becomes `{ message, code, errors?, request_id }`. */
export function handleErrors(
  app: FastifyInstance,
  requestLog: Pick<RequestLog, 'failed'>,
  metrics: Pick<Metrics, 'refused'>,
): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error instanceof InvalidPathParam ? (nonPathError(request) ?? error) : error)
    if (problem.status >= 500) requestLog.failed(error, request, problem.status)
    if (problem.code === 'overloaded') metrics.refused('overloaded')
    // Counted in the metrics; a log line for each would add to the load.
    if (problem.status === 429) skipRequestLog(request)
    return sendError(request, reply, problem)
  })
  app.setNotFoundHandler(handleNotFound)
}

export const handleNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(request, reply, notFound())

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
