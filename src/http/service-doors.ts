import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { errorText } from './errors.ts'
import type { Metrics } from './metrics.ts'

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

  const measurements = writtenDown(() => metrics.registry.metrics())
  app.get('/metrics', { schema: { tags: ['service'], summary: 'Measurements for Prometheus' } }, async (_, reply) =>
    reply.type(metrics.registry.contentType).send(await measurements()),
  )
}

/** Writing all measurements down takes some milliseconds, and anybody may ask for them: so much lies between two. */
const PACE_MS = 100

/** Whoever asks while nobody may yet write shares what is written next. */
function writtenDown(write: () => Promise<string>): () => Promise<string> {
  let next: Promise<string> | undefined
  let last = Number.NEGATIVE_INFINITY
  const soon = async (): Promise<string> => {
    await sleep(Math.max(0, last + PACE_MS - performance.now()))
    next = undefined
    last = performance.now()
    return write()
  }
  return () => (next ??= soon())
}
