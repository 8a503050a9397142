import type { onRequestHookHandler } from 'fastify'
import { rateLimited } from '../errors/problem.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { WriteAllowance } from './write-allowance.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How a route that writes uses its user's allowance of stored bytes. By default it is charged for all that it stores
     * and refused when nothing is left. `paid`: never refused, and charged only when it fails, because a success is paid
     * for. `charge-only`: charged but never refused, because it pays value out or stores nothing.
     */
    writes?: 'paid' | 'charge-only'
  }
}

/** Refuses writes of a user over the allowance; it runs after the rate limit. */
export const writeCheck =
  (writes: WriteAllowance, metrics: Pick<Metrics, 'refused'>): onRequestHookHandler =>
  ({ caller, method, routeOptions: { config, url } }, _reply, done) => {
    const isRefusable = url !== undefined && method !== 'GET' && method !== 'HEAD' && config.writes === undefined
    if (!isRefusable || caller.kind !== 'user' || writes.hasLeft(caller.id)) return done()
    metrics.refused('written_bytes')
    done(rateLimited(writes.retryAfter(caller.id)))
  }
