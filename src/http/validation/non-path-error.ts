import type { FastifyRequest } from 'fastify'
import type { HttpError } from '../errors/http-error.ts'
import { idempotencyKeyError } from './idempotency.ts'
import { schemaError } from './validation.ts'

/**
 * The first error of a request's body, query or idempotency key. Fastify checks the path first and stops at an invalid
 * one; here the path's error comes last, on every route.
 */
export function nonPathError(request: FastifyRequest): HttpError | undefined {
  const { body, query, method } = request
  const checkBody = request.getValidationFunction('body')
  if (checkBody !== undefined && !checkBody(body)) return schemaError(checkBody.errors ?? [], 'body')
  const checkQuery = request.getValidationFunction('querystring')
  if (checkQuery !== undefined && !checkQuery(query)) return schemaError(checkQuery.errors ?? [], 'querystring')
  return method === 'GET' || method === 'HEAD' ? undefined : idempotencyKeyError(request)
}
