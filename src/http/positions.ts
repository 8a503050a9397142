import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import type { AppliedEvents, CurrentIncarnation } from '../ledger/subscriptions/applied-events.ts'

/**
 * In a response: it takes into account every event up to this position, if not more; a stored reply is as it was,
 * with the position of the repetition. In a request: the client has seen that position, and its read must not be older.
 */
const POSITION_HEADER = 'x-ledger-position'
/** The incarnation of the ledger that the position belongs to. */
const LEDGER_HEADER = 'x-ledger'

export function setPosition(reply: FastifyReply, position: number): void {
  reply.header(POSITION_HEADER, String(position))
}

/** Every response has a position; who knows a later one sets it again. */
export const positionHook =
  (applied: Pick<AppliedEvents, 'position' | 'incarnation'>): onRequestHookHandler =>
  (_request, reply, done) => {
    setPosition(reply, applied.position)
    if (applied.incarnation.name !== undefined) reply.header(LEDGER_HEADER, applied.incarnation.name)
    done()
  }

/** The position that a client sends back; null without one, of another ledger, and for anything else than a position. */
export function requestedPosition(
  { headers }: Pick<FastifyRequest, 'headers'>,
  { name }: Pick<CurrentIncarnation, 'name'>,
): number | null {
  const text = headers[POSITION_HEADER]
  if (headers[LEDGER_HEADER] !== undefined && headers[LEDGER_HEADER] !== name) return null
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/**
 * Where the database is a standby, a read waits for the position that it sends back, and is then answered with what there
 * is. Elsewhere reads see whatever was committed before.
 */
export const standbyHook =
  (
    applied: Pick<AppliedEvents, 'position' | 'incarnation'>,
    awaitPosition: (position: number) => Promise<boolean>,
  ): onRequestAsyncHookHandler =>
  async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return
    const requested = requestedPosition(request, applied.incarnation)
    if (requested === null || requested <= applied.position) return
    if (await awaitPosition(requested)) setPosition(reply, requested)
  }
