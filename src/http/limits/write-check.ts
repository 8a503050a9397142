import type { onRequestHookHandler } from 'fastify'
import { rateLimited } from '../errors/problem.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { WriteAllowance } from './write-allowance.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How a route that writes draws on its user's allowance of stored bytes. Where it says nothing, with all that it
     * stores, and it is refused when nothing is left. `paid`: what it stores by succeeding was paid for, so that it is
     * neither charged nor refused. `unrefused`: it is charged and never refused, as value is got out by it, or it stores
     * nothing.
     */
    writes?: 'paid' | 'unrefused'
  }
}

/** The check, placed after the limit of requests, that a user who writes has something left to store. */
export const writeCheck =
  (writes: WriteAllowance, metrics: Pick<Metrics, 'refused'>): onRequestHookHandler =>
  ({ caller, method, routeOptions: { config, url } }, _reply, done) => {
    const isRefusable = url !== undefined && method !== 'GET' && method !== 'HEAD' && config.writes === undefined
    if (!isRefusable || caller.kind !== 'user' || writes.hasLeft(caller.id)) return done()
    metrics.refused('written_bytes')
    done(rateLimited(writes.retryAfter(caller.id)))
  }
