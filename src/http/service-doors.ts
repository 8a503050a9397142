import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { errorText } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { overloaded } from './problem.ts'

/** Doors for those who run the service: no token, no limit, never closed. `isReady` must not reject. */
export function serviceDoors(app: FastifyInstance, metrics: Metrics, isReady: () => Promise<boolean>): void {
  app.get('/healthz', { schema: { tags: ['service'], summary: 'The process is alive' } }, () => ({ status: 'alive' }))

  app.get(
    '/readyz',
    { schema: { tags: ['service'], summary: 'The database answers and the ledger is followed' } },
    async (request, reply) => {
      if (await isReady()) return { status: 'ready' }
      const message = 'The database does not answer, or the ledger is not followed.'
      return reply
        .code(503)
        .type('application/json')
        .send(errorText(message, 'not_ready', request.id))
    },
  )

  const turn = pacer()
  app.get('/metrics', { schema: { tags: ['service'], summary: 'Measurements for Prometheus' } }, async (_, reply) => {
    await turn()
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

/** Writing all measurements down takes some milliseconds, and anybody may ask for them: this much lies between two. */
const PACE_MS = 100
const MOST_WAITING = 20

/** Waits for a turn of one's own; whoever comes when too many wait is told to come back. */
function pacer(): () => Promise<void> {
  let free = 0
  return async () => {
    const now = performance.now()
    const wait = Math.max(0, free - now)
    if (wait > MOST_WAITING * PACE_MS) throw overloaded()
    free = now + wait + PACE_MS
    if (wait > 0) await sleep(wait)
  }
}
