import type { FastifyRequest } from 'fastify'
import type { AddressLimit } from './address-limit.ts'
import { actorOf } from './caller.ts'
import { HttpError } from './errors.ts'
import type { KeyedLimit } from './keyed-limit.ts'
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
 * Charges a request to a route that asks for no token: with a good token to its holder, else to its address. Phones
 * share the addresses of their carriers. Holders have an allowance for these routes alone: sessions are not looked at,
 * so a token that was revoked must not use up what its user has elsewhere.
 */
export const limitOpenRoutesBy =
  (
    read: ReadToken,
    limitStranger: LimitStranger,
    holders: Pick<KeyedLimit, 'take' | 'retryAfter'>,
    metrics: Pick<Metrics, 'refused'>,
  ): LimitStranger =>
  (request, cost = 1) => {
    const token = bearerToken(request.headers.authorization)
    const found = token === undefined ? undefined : read(token)
    if (found === undefined || found instanceof HttpError || found.caller === null) return limitStranger(request, cost)
    const holder = actorOf(found.caller)
    if (holders.take(holder, cost)) return undefined
    metrics.refused('requests')
    return rateLimited(holders.retryAfter(holder))
  }

/** Whether a request shows a token that is good by itself; sessions are not looked at. */
export function hasGoodToken({ headers }: FastifyRequest, read: ReadToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(read(token) instanceof HttpError)
}
