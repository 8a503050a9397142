import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import type { Kysely } from 'kysely'
import { ErrorBody } from '../../../schema/common.ts'
import { SingleFlight } from '../../db/async.ts'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import { languageOf } from '../../language/request-language.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'
import type { LimitUnauthenticated } from '../auth/auth.ts'
import { bearerToken, unauthenticated } from '../auth/tokens.ts'
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

const ANSWER_TIMEOUT_MS = 2_000
/** A tail that lags and has not moved for this long is stuck. Under load it moves, if slowly. */
const STUCK_TIMEOUT_MS = 10_000
/** Commands that wait for this long, while none is committed, wait for something that load does not explain. */
const MAX_STALL_MS = 3_000

/**
 * Whether requests should be sent here: the database answers in time, commands that wait are committed, and the tail
 * advances. Load alone does not make an instance unready, because taking it out would only move the load: `db` has a
 * connection of its own. Never rejects. Concurrent calls share a result. `now` is in milliseconds.
 */
export function readiness(
  db: Kysely<Tables>,
  tail: Pick<Tail, 'position'>,
  executor: Pick<Executor, 'stalledMs'>,
  now = () => performance.now(),
): () => Promise<boolean> {
  /** The tail's position when it was first seen lagging there. */
  let lagging: { readonly position: number; readonly since: number } | undefined
  const check = async (): Promise<boolean> => {
    const head = await withTimeout(ANSWER_TIMEOUT_MS, headOf(db))
    if (head === undefined || executor.stalledMs >= MAX_STALL_MS) return false
    const { position } = tail
    if (position >= head) lagging = undefined
    else if (lagging?.position !== position) lagging = { position, since: now() }
    return lagging === undefined || now() - lagging.since < STUCK_TIMEOUT_MS
  }
  const checking = new SingleFlight(check)
  return () => checking.run()
}

/** The answer, or undefined when it fails or is late. */
async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  // After a turn in which the event loop was busy for that long, an answer may have arrived and not been read yet.
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).then(() => turn(undefined))
  try {
    return await Promise.race([answer, late])
  } catch {
    return undefined
  } finally {
    timer.abort()
  }
}
