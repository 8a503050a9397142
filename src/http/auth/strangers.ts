import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/errors.ts'
import { rateLimited } from '../errors/problem.ts'
import type { AddressLimit } from '../limits/address-limit.ts'
import type { Metrics } from '../observability/metrics.ts'
import { bearerToken, type ReadToken } from './tokens.ts'

/** Charges a request without a good token to its address; answers the 429 beyond what an address may ask for. */
export type LimitStranger = (request: FastifyRequest, cost?: number) => HttpError | undefined

export const limitStrangersBy =
  (limit: AddressLimit, metrics: Pick<Metrics, 'refused'>): LimitStranger =>
  (request, cost = 1) => {
    const { ip } = request
    if (limit.take(ip, cost)) return undefined
    metrics.refused('address')
    return rateLimited(limit.retryAfter(ip))
  }

/** Whether a request shows a token that is good by itself; sessions are not looked at. */
export function hasGoodToken({ headers }: FastifyRequest, read: ReadToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(read(token) instanceof HttpError)
}
