import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AddressLimit } from './address-limit.ts'
import { costOf } from './cost.ts'
import { HttpError } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { rateLimited } from './problem.ts'
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

/**
 * The check of routes that ask for no token: without a good one they are limited by address. Phones share the addresses
 * of their carriers, so a request with a good token never is.
 */
export const openRouteCheck =
  (read: ReadToken, limitStranger: LimitStranger): onRequestHookHandler =>
  (request, _reply, done) =>
    done(hasGoodToken(request, read) ? undefined : limitStranger(request, costOf(request)))

/** Whether a request shows a token that is good by itself; sessions are not looked at. */
export function hasGoodToken({ headers }: FastifyRequest, read: ReadToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(read(token) instanceof HttpError)
}
