import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { HttpError, rateLimited } from '../errors/http-error.ts'
import type { AddressLimit } from '../limits/address-limit.ts'
import { httpMessages } from '../messages.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Caller } from './caller.ts'
import type { Sessions, StaffSessions } from './sessions.ts'
import { bearerToken, sessionExpired, type Token, unauthenticated, unknownUser, type VerifyToken } from './tokens.ts'

const callerSymbol = Symbol('caller')

declare module 'fastify' {
  interface FastifyRequest {
    [callerSymbol]: Caller | null
  }
  interface FastifyContextConfig {
    /** A route of staff that writes and is open to finance, too: one that moves no value. */
    mayFinanceWrite?: true
  }
}

/** Adds `request.caller`, which the token checks set. */
export function decorateCaller(app: FastifyInstance): void {
  app.decorateRequest(callerSymbol, null)
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      const caller = this[callerSymbol]
      if (caller === null) throw new Error('this route has no token check')
      return caller
    },
  })
}

/** Sets `request.caller` to a member of staff whom another check than `staffCheck` has found. */
export function setStaffCaller(request: FastifyRequest, caller: Extract<Caller, { kind: 'staff' }>): void {
  request[callerSymbol] = caller
}

/**
 * The token check of client routes: users only. Cached users, nearly all, are checked without a promise or a query.
 * Failed authentications are charged to the address.
 */
export const userCheck =
  (
    verify: VerifyToken,
    sessions: Pick<Sessions, 'validAfter' | 'load'>,
    limitUnauthenticated: LimitUnauthenticated,
  ): onRequestHookHandler =>
  (request, _reply, done) => {
    const refuse = (error: HttpError): void => done(limitUnauthenticated(request) ?? error)
    const token = tokenOf(request, verify)
    if (token instanceof HttpError) return refuse(token)
    const { caller, issuedAt } = token
    if (caller?.kind !== 'user') return done(forbidden())
    const accept = (validAfter: number | null): void => {
      if (validAfter === null) return refuse(unknownUser())
      if (issuedAt < validAfter) return refuse(sessionExpired())
      request[callerSymbol] = caller
      done()
    }
    const validAfter = sessions.validAfter(caller.id)
    if (validAfter === undefined) sessions.load(caller.id).then(accept, done)
    else accept(validAfter)
  }

/** The token check of /admin/v1: operators may do everything, finance may read, and write where a route allows it. */
export const staffCheck =
  (
    verify: VerifyToken,
    sessions: Pick<StaffSessions, 'validAfter' | 'load'>,
    limitUnauthenticated: LimitUnauthenticated,
  ): onRequestHookHandler =>
  (request, _reply, done) => {
    const refuse = (error: HttpError): void => done(limitUnauthenticated(request) ?? error)
    const token = tokenOf(request, verify)
    if (token instanceof HttpError) return refuse(token)
    const { caller, issuedAt } = token
    if (caller?.kind !== 'staff') return done(forbidden())
    const accept = (validAfter: number | null): void => {
      if (validAfter !== null && issuedAt < validAfter) return refuse(sessionExpired())
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      const mayWrite = caller.role === 'operator' || request.routeOptions.config.mayFinanceWrite === true
      if (!isRead && !mayWrite) return done(forbidden())
      request[callerSymbol] = caller
      done()
    }
    const validAfter = sessions.validAfter(caller.sub)
    if (validAfter === undefined) sessions.load(caller.sub).then(accept, done)
    else accept(validAfter)
  }

const forbidden = (): HttpError => new HttpError(403, 'forbidden', httpMessages.forbidden)

function tokenOf(request: FastifyRequest, verify: VerifyToken): Token | HttpError {
  const token = bearerToken(request.headers.authorization)
  return token === undefined ? unauthenticated() : verify(token)
}

/** Charges a request without a valid token to its address; returns a 429 when the address is over its limit. */
export type LimitUnauthenticated = (request: FastifyRequest, cost?: number) => HttpError | undefined

export const unauthenticatedLimit =
  (limit: AddressLimit, metrics: Pick<Metrics, 'refused'>): LimitUnauthenticated =>
  (request, cost = 1) => {
    const { ip } = request
    if (limit.take(ip, cost)) return undefined
    metrics.refused('address')
    return rateLimited(limit.retryAfter(ip))
  }

/** Whether a request has a valid, unexpired token; its session is not checked. */
export function hasValidToken({ headers }: FastifyRequest, verify: VerifyToken): boolean {
  const token = bearerToken(headers.authorization)
  return token !== undefined && !(verify(token) instanceof HttpError)
}

/** The limit of routes that need no token: with a valid one nothing is charged. */
export const publicLimit =
  (verify: VerifyToken, limitUnauthenticated: LimitUnauthenticated): LimitUnauthenticated =>
  (request, cost) =>
    hasValidToken(request, verify) ? undefined : limitUnauthenticated(request, cost)
