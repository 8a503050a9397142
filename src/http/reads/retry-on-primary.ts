import type { RouteOptions } from 'fastify'
import { isStandbyFailure } from '../../db/connection-errors.ts'

/**
 * A hook for `onRoute`. A request whose reads fail on the standby is handled once more, by the primary alone: a response
 * holds nothing of two databases.
 */
export function retryOnPrimary(route: RouteOptions): void {
  const { handler } = route
  route.handler = function retried(request, reply) {
    const result: unknown = handler.call(this, request, reply)
    if (!request.readsStandby || !(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      if (!request.readsStandby || reply.sent || !isStandbyFailure(error)) throw error
      request.readsStandby = false
      return handler.call(this, request, reply)
    })
  }
}
