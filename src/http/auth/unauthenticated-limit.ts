import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { HttpError } from '../errors/http-error.ts'
import { rateLimited } from '../errors/problem.ts'
import type { AddressLimit } from '../limits/address-limit.ts'
import type { Metrics } from '../observability/metrics.ts'
import { bearerToken, type VerifyToken } from './tokens.ts'

/** Charges a request without a valid token to its address; returns a 429 when the address is over its limit. */
export type LimitUnauthenticated = (request: FastifyRequest, cost?: number) => HttpError | undefined

export const unauthenticatedLimit =
  (limit: AddressLimit, metrics: Pick<Metrics, 'refused'>): LimitUnauthenticated =>
  (request, cost = 1) => {
    const { ip } = request
    if (limit.take(ip, cost)) return undefined
    metrics.refused('address')
    return rateLimited(limit.retryAfter(ip))
  }

/** Whether a request has a valid, unexpired token; its session is not checked. */
export function hasValidToken({ headers }: FastifyRequest, verify: VerifyToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(verify(token) instanceof HttpError)
}

/** The check of routes that need no token: without a valid one they are charged to the address. */
export const publicCheck =
  (verify: VerifyToken, limitUnauthenticated: LimitUnauthenticated): onRequestHookHandler =>
  (request, _reply, done) =>
    done(hasValidToken(request, verify) ? undefined : limitUnauthenticated(request))
