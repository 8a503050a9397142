import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AppStatus } from '../../../schema/app-status.ts'
import { sha256 } from '../../ledger/rules/hash.ts'

/** Why the service is closed to a client: maintenance (503) or a forced update (426), with the client's body for it. */
export interface ClosedState {
  readonly status: 503 | 426
  /** As `app-status` answers it, in the client's language. */
  readonly body: AppStatus
}

/**
 * Undefined: the service is open. A promise, which never rejects, only for a client that shows nothing of itself and
 * whose token has to be looked up first, and only while that could close the service to it.
 */
export type GateDecision = ClosedState | undefined | Promise<ClosedState | undefined>

/** Whether a token bears our signature, expired or not. */
export type IsSignatureValid = (token: string) => boolean

/** Judges a request before anything else is looked at, its token included. Of tokens that are not ours nothing is known. */
export type AppStateGate = (request: FastifyRequest, isSignatureValid: IsSignatureValid) => GateDecision

/** What a client shows of itself, for one that stays: a socket is judged again at every switch. */
export interface ClientHints {
  /** `Client-Type` and `Client-Version` as sent; null when they are missing. */
  readonly type: string | null
  readonly version: string | null
  /** The language of ours that the client likes best. */
  readonly language: 'en' | 'ar'
  /** `tokenKey` of a token that is ours, and null for one that was not checked. */
  readonly tokenKey: string | null
}

/** To whom the service is open, and who wants to hear when that changes. */
export interface AppState {
  readonly gate: AppStateGate
  /** What a request (an upgrade, too) shows; the token's key is left to who has checked the token. */
  readonly hintsOf: (request: FastifyRequest) => Omit<ClientHints, 'tokenKey'>
  /** As the gate judges. */
  readonly check: (shown: ClientHints) => GateDecision
  /** What `app-status` answers a client, and what it tells of itself is remembered with its token where `mayRemember`. */
  readonly statusFor: (
    request: FastifyRequest,
    isSignatureValid: IsSignatureValid,
    mayRemember: () => boolean,
  ) => AppStatus
  /**
   * Hears of every switch of mode or release, once the gate judges by it and before the operator is answered. Answers
   * how to hear no more.
   */
  readonly onChange: (listener: () => void) => () => void
}

/** What a token that is ours goes by where it must not stand itself. */
export const tokenKey = (token: string): string => sha256(token)

export const alwaysOpen: AppState = {
  gate: () => undefined,
  hintsOf: () => ({ type: null, version: null, language: 'en' }),
  check: () => undefined,
  statusFor: () => ({ status: 'success', type: 'none', data: {} }),
  onChange: () => () => {},
}

/** The gate as the first check of a route. */
export const gateCheck =
  (gate: AppStateGate, isSignatureValid: IsSignatureValid): onRequestHookHandler =>
  (request, reply, done) => {
    const accept = (closed: ClosedState | undefined): void => {
      if (closed === undefined) done()
      else sendClosed(closed, reply)
    }
    const decision = gate(request, isSignatureValid)
    if (decision instanceof Promise) void decision.then(accept)
    else accept(decision)
  }

function sendClosed({ status, body }: ClosedState, reply: FastifyReply): void {
  void reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}
