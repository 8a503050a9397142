import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AppStatus } from '../../../schema/app-status.ts'
import type { Language } from '../../../schema/languages.ts'
import { languageOf } from '../../language/request-language.ts'
import { sha256 } from '../../ledger/rules/hash.ts'

/** Why the service is closed to a client: maintenance (503) or a forced update (426), with the client's body for it. */
export interface ClosedState {
  readonly status: 503 | 426
  /** As `app-status` answers it, in the client's language. */
  readonly body: AppStatus
}

/**
 * Undefined when the service is open. A promise, which never rejects, only for a client that sends no hints and whose
 * token must be looked up first, and only while the service may be closed to it.
 */
export type GateDecision = ClosedState | undefined | Promise<ClosedState | undefined>

/** Whether a token's signature is valid, expired or not. */
export type IsSignatureValid = (token: string) => boolean

/** Runs before every other check, the token's included. Tokens with an invalid signature are ignored. */
export type AppStateGate = (request: FastifyRequest, isSignatureValid: IsSignatureValid) => GateDecision

/** What a client sends about itself. Kept for sockets, which are checked again at every change of mode or release. */
export interface ClientHints {
  /** `Client-Type` and `Client-Version` as sent; null when they are missing. */
  readonly type: string | null
  readonly version: string | null
  /** The supported language that the client prefers. */
  readonly language: Language
  /** The keys of a token with a valid signature; null for one that was not checked. */
  readonly keys: ClientKeys | null
}

/** Which clients the service is open to. */
export interface AppState {
  readonly gate: AppStateGate
  /** The hints of a request or upgrade; the check of the token adds its key. */
  readonly hintsOf: (request: FastifyRequest) => Omit<ClientHints, 'keys'>
  /** As `gate`, for hints that were kept. */
  readonly check: (hints: ClientHints) => GateDecision
  /** The body of `app-status` for a client. Its hints are stored for its token where `mayRemember` allows. */
  readonly statusFor: (
    request: FastifyRequest,
    isSignatureValid: IsSignatureValid,
    mayRemember: () => boolean,
  ) => AppStatus
  /**
   * Called at every change of mode or release, once the gate applies it and before the operator's response. Returns a
   * function that unsubscribes.
   */
  readonly onChange: (listener: () => void) => () => void
}

export const alwaysOpen: AppState = {
  gate: () => undefined,
  hintsOf: (request) => ({ type: null, version: null, language: languageOf(request) }),
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

/** The keys under which the client type and version of a token are stored. Hashes: tokens must not be stored. */
export interface ClientKeys {
  readonly token: string
  /** The key of the token's user, whose other tokens tell, too; null for staff. */
  readonly user: string | null
}

export const tokenKey = (token: string): string => sha256(token)

export const userKey = (id: number | string): string => sha256(`user:${id}`)

const Claims = Type.Object({ sub: Type.Union([Type.String(), Type.Number()]), role: Type.Optional(Type.Unknown()) })

/** The keys of a token whose signature is valid. */
export function clientKeysOf(token: string): ClientKeys {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const user = Value.Check(Claims, claims) && claims.role === undefined ? userKey(claims.sub) : null
  return { token: tokenKey(token), user }
}
