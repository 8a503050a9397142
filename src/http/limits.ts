import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { actorOf } from './caller.ts'
import { HttpError } from './errors.ts'

/** Callers whose requests are counted at a time; beyond, those not seen for longest are forgotten. */
const MOST_COUNTED = 100_000

/** The check, placed after the token's, that a caller sends at most so many requests a minute to this instance. */
export async function limitCheck(app: FastifyInstance, perMinute: number): Promise<onRequestAsyncHookHandler> {
  await app.register(rateLimit, {
    global: false,
    max: perMinute,
    timeWindow: 60_000,
    cache: MOST_COUNTED,
    keyGenerator: (request) => actorOf(request.caller),
  })
  const count = app.createRateLimit()
  return async (request) => {
    const limit = await count(request)
    if (limit.isAllowed || !limit.isExceeded) return
    const headers = { 'retry-after': String(limit.ttlInSeconds) }
    throw new HttpError(429, 'rate_limited', 'Too many requests; try again later.', { headers })
  }
}
