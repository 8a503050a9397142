import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorText, type HttpError, notFound } from './errors.ts'
import { type AppStateGate, answeredClosed } from './gate.ts'
import { logFailure } from './logging.ts'
import { problemOf } from './problem.ts'
import { clientPrefixes } from './slice.ts'

/** Every error becomes `{ message, code, errors?, request_id }`. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
}

export const handleNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  answer(request, reply, notFound())

/**
 * Answers requests that Fastify gives up on before there is a route: addresses that cannot be decoded. No hook sees
 * them, so what the hooks do for all others is done here.
 */
export const handleUnroutable =
  (gate: AppStateGate) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('x-request-id', request.id)
    const isClients = clientPrefixes.some((prefix) => request.url.startsWith(`${prefix}/`))
    if (!isClients || !answeredClosed(gate, request, reply)) handleError(error, request, reply)
  }

function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error)
  if (problem.status >= 500) logFailure(error, request, problem.status)
  return answer(request, reply, problem)
}

const answer = (request: FastifyRequest, reply: FastifyReply, problem: HttpError): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problem.headers)
    .type('application/json; charset=utf-8')
    .send(errorText(problem.message, problem.code, request.id, problem.errors))
