import type { FastifyRequest } from 'fastify'
import type { HttpError } from '../errors/http-error.ts'
import { idempotencyKeyError } from './idempotency.ts'
import { schemaError } from './validation.ts'

/**
 * What is wrong with the form of a request, its path aside. Fastify looks at the path first and at nothing else when
 * that cannot be right; here the path comes last, on every route.
 */
export function nonPathError(request: FastifyRequest): HttpError | undefined {
  const { body, query, method } = request
  const checkBody = request.getValidationFunction('body')
  if (checkBody !== undefined && !checkBody(body)) return schemaError(checkBody.errors ?? [], 'body')
  const checkQuery = request.getValidationFunction('querystring')
  if (checkQuery !== undefined && !checkQuery(query)) return schemaError(checkQuery.errors ?? [], 'querystring')
  return method === 'GET' || method === 'HEAD' ? undefined : idempotencyKeyError(request)
}
