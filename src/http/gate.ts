import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'

/** Why the service is closed to a client: maintenance (503) or a forced update (426), with the client's body for it. */
export interface ClosedState {
  readonly status: 503 | 426
  readonly body: unknown
}

/** Judges a request before anything else is looked at, its token included. */
export type AppStateGate = (request: FastifyRequest) => ClosedState | undefined

export const alwaysOpen: AppStateGate = () => undefined

/** The gate as the first check of a route. */
export const gateCheck =
  (gate: AppStateGate): onRequestHookHandler =>
  (request, reply, done) => {
    if (!answeredClosed(gate, request, reply)) done()
  }

/** Answers for a closed service; false when it is open. */
export function answeredClosed(gate: AppStateGate, request: FastifyRequest, reply: FastifyReply): boolean {
  const closed = gate(request)
  if (closed === undefined) return false
  void reply.code(closed.status).type('application/json; charset=utf-8').send(JSON.stringify(closed.body))
  return true
}
