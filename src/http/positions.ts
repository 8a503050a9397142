import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AppliedEvents } from '../ledger/subscriptions/applied-events.ts'

/**
 * In a response: it takes into account every event up to this position, if not more; a replayed response is as it was,
 * with the position of the replay. In a request: the client has seen that position, and its read must not be older.
 */
export const POSITION_HEADER = 'x-ledger-position'

export function setPosition(reply: FastifyReply, position: number): void {
  reply.header(POSITION_HEADER, String(position))
}

/** The position of a response, 0 before it has one. */
export const positionOf = (reply: FastifyReply): number => Number(reply.getHeader(POSITION_HEADER) ?? 0)

/** Every response has a position; who knows a later one sets it again. */
export const positionHook =
  (applied: Pick<AppliedEvents, 'position'>): onRequestHookHandler =>
  (_request, reply, done) => {
    setPosition(reply, applied.position)
    done()
  }

/** The position that a client sends back; null without one, and for anything else than a position. */
export function requestedPosition({ headers }: Pick<FastifyRequest, 'headers'>): number | null {
  const text = headers[POSITION_HEADER]
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null
}
