import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/http-error.ts'
import { rateLimited } from '../errors/problem.ts'
import type { AddressLimit } from '../limits/address-limit.ts'
import type { Metrics } from '../observability/metrics.ts'
import { bearerToken, type VerifyToken } from './tokens.ts'

/** Charges a request without a good token to its address; answers the 429 beyond what an address may ask for. */
export type LimitUnauthenticated = (request: FastifyRequest, cost?: number) => HttpError | undefined

export const unauthenticatedLimit =
  (limit: AddressLimit, metrics: Pick<Metrics, 'refused'>): LimitUnauthenticated =>
  (request, cost = 1) => {
    const { ip } = request
    if (limit.take(ip, cost)) return undefined
    metrics.refused('address')
    return rateLimited(limit.retryAfter(ip))
  }

/** Whether a request shows a token that is good by itself; sessions are not looked at. */
export function hasValidToken({ headers }: FastifyRequest, verify: VerifyToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(verify(token) instanceof HttpError)
}
