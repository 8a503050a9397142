import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'
import { staffOf } from './session-check.ts'

/** Refuses a page that only leads to what operators may do. */
export function requireOperator(request: FastifyRequest): void {
  if (staffOf(request).role !== 'operator') throw new HttpError(403, 'forbidden', httpMessages.forbidden)
}
