import type { FastifyRequest } from 'fastify'
import type { HttpError } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import { validationFailed } from './validation.ts'

/** The request's Idempotency-Key, if it has one; 422 for one that is not 1 to 255 printable ASCII characters. */
export function idempotencyKey(request: Pick<FastifyRequest, 'headers'>): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (!isKey(key)) throw invalidKey()
  return key
}

/** The error of an invalid Idempotency-Key. */
export function idempotencyKeyError({ headers }: Pick<FastifyRequest, 'headers'>): HttpError | undefined {
  const key = headers['idempotency-key']
  return key === undefined || isKey(key) ? undefined : invalidKey()
}

const isKey = (key: string | string[]): key is string => typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)

const invalidKey = (): HttpError => validationFailed({ 'Idempotency-Key': [httpMessages.invalid_key] })
