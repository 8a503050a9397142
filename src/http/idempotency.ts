import type { FastifyRequest } from 'fastify'
import { validationFailed } from './validation.ts'

/** The request's Idempotency-Key, if it has one; 422 for one that is not 1 to 255 printable ASCII characters. */
export function idempotencyKey(request: Pick<FastifyRequest, 'headers'>): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw validationFailed({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters'] })
  }
  return key
}
