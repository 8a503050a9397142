import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { ErrorBody } from '../../../schema/common.ts'
import { languageOf } from '../../language/request-language.ts'
import { bearerToken, unauthenticated } from '../auth/tokens.ts'
import type { LimitUnauthenticated } from '../auth/unauthenticated-limit.ts'
import { errorBody } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import type { Metrics } from './metrics.ts'

interface MetricsAccess {
  /** Null: open to everyone. */
  readonly token: string | null
  readonly limitUnauthenticated: LimitUnauthenticated
}

/**
 * Routes for operators, outside the gate and without a user's token; /metrics may have a token of its own.
 * `isReady` must not reject.
 */
export function serviceRoutes(
  app: FastifyInstance,
  metrics: Metrics,
  isReady: () => Promise<boolean>,
  { token, limitUnauthenticated }: MetricsAccess,
): void {
  app.get(
    '/healthz',
    {
      schema: {
        tags: ['service'],
        summary: 'The process is alive',
        description: 'Needs no database. Restart an instance that does not answer.',
        response: { 200: Type.Object({ status: Type.Literal('alive') }) },
      },
    },
    () => ({ status: 'alive' }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['service'],
        summary: 'The database answers and commits, and this instance keeps up with the ledger',
        description: 'Send an instance clients only while it answers 200.',
        response: {
          200: Type.Object({ status: Type.Literal('ready') }),
          503: { ...ErrorBody, description: 'not_ready: send this instance no requests' },
        },
      },
    },
    async (request, reply) => {
      if (await isReady()) return { status: 'ready' }
      return reply
        .code(503)
        .type('application/json')
        .send(errorBody({ code: 'not_ready', text: httpMessages.not_ready }, request.id, languageOf(request)))
    },
  )

  const renderMetrics = sharedRender(() => metrics.registry.metrics())
  const onRequest: onRequestHookHandler = (request, _reply, done) => {
    if (token === null || isSame(bearerToken(request.headers.authorization) ?? '', token)) done()
    else done(limitUnauthenticated(request) ?? unauthenticated())
  }
  app.get(
    '/metrics',
    {
      onRequest,
      schema: {
        tags: ['service'],
        summary: 'Metrics for Prometheus; may require METRICS_TOKEN',
        description: 'In its text format. Where METRICS_TOKEN is set, a request without it is answered 401.',
        response: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
    },
    async (_, reply) => reply.type(metrics.registry.contentType).send(await renderMetrics()),
  )
}

/** In constant time, so that the token cannot be found character by character. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Rendering all metrics takes some milliseconds, and anyone may request it: the minimum time between two. */
const MIN_RENDER_INTERVAL_MS = 100

/** Requests that come before the next rendering share it. */
function sharedRender(render: () => Promise<string>): () => Promise<string> {
  let next: Promise<string> | undefined
  let last = Number.NEGATIVE_INFINITY
  const soon = async (): Promise<string> => {
    await sleep(Math.max(0, last + MIN_RENDER_INTERVAL_MS - performance.now()))
    next = undefined
    last = performance.now()
    return render()
  }
  return () => (next ??= soon())
}
