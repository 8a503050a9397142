import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { setStaffCaller } from '../../http/auth/auth.ts'
import { sessionExpired } from '../../http/auth/tokens.ts'
import type { LimitUnauthenticated } from '../../http/auth/unauthenticated-limit.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'
import { addressWith } from '../frame/address.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { nextPath } from './next-path.ts'
import { clearSessionCookie, readSessionCookie, type SessionCookie } from './session-cookie.ts'
import type { FindStaffSession, StaffSession } from './staff-session.ts'

const staffSymbol = Symbol('staff session')

declare module 'fastify' {
  interface FastifyRequest {
    [staffSymbol]: StaffSession | null
  }
  interface FastifyContextConfig {
    /** A page that needs no session: it signs in. */
    needsNoSession?: true
  }
}

export const decorateStaff = (scope: { decorateRequest(name: symbol, value: null): unknown }): void =>
  void scope.decorateRequest(staffSymbol, null)

/** The member of staff whose session this is. Throws on a page without the check: a bug. */
export function staffOf(request: FastifyRequest): StaffSession {
  const staff = request[staffSymbol]
  if (staff === null) throw new Error('this page has no session check')
  return staff
}

/** As `staffOf`; null on pages that need no session. */
export const staffOrNull = (request: FastifyRequest): StaffSession | null => request[staffSymbol]

interface SessionCheckOptions {
  readonly findSession: FindStaffSession
  readonly endedSessions: EndedSessions
  readonly production: boolean
  /** Whether this is the service's own address. */
  readonly isOwnOrigin: (origin: string) => boolean
  readonly limitUnauthenticated: LimitUnauthenticated
}

/** Leads to the page that signs in, and from there back, whoever has no session. */
export function sessionCheck({
  findSession,
  endedSessions,
  production,
  isOwnOrigin,
  limitUnauthenticated,
}: SessionCheckOptions): onRequestAsyncHookHandler {
  const find = async ({ id, token }: SessionCookie): Promise<StaffSession | HttpError> => {
    const found = await findSession(token)
    return !(found instanceof HttpError) && (await endedSessions.has(id)) ? sessionExpired() : found
  }
  return async (request, reply) => {
    const { config } = request.routeOptions
    const cookie = readSessionCookie(request, production)
    if (config.needsNoSession === true) {
      // What pages load is not charged to the address that staff may share with others; signing in is.
      const refusal = cookie !== undefined && isRead(request) ? undefined : limitUnauthenticated(request)
      if (refusal !== undefined) throw refusal
      return
    }
    const found = cookie === undefined ? undefined : await find(cookie)
    if (found === undefined || found instanceof HttpError) {
      const refusal = limitUnauthenticated(request)
      if (refusal !== undefined) throw refusal
      if (found !== undefined) clearSessionCookie(request, reply, production)
      return leadToSignIn(request, reply, isOwnOrigin)
    }
    request[staffSymbol] = found
    setStaffCaller(request, { kind: 'staff', role: found.role, sub: found.sub })
    if (found.role === 'finance' && !isRead(request) && config.mayFinanceWrite !== true) {
      throw new HttpError(403, 'forbidden', httpMessages.forbidden)
    }
  }
}

/** Whether a script asks, to put the answer into a page that stays. */
export const isForPart = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean => headers['hx-request'] === 'true'

/** The member of staff who sent a request, as events name the actor: `staff:ann`. */
export const actorIn = (request: FastifyRequest): string => `staff:${staffOf(request).sub}`

const isRead = ({ method }: Pick<FastifyRequest, 'method'>): boolean => method === 'GET' || method === 'HEAD'

/** A GET comes back to its page; whatever else was sent begins anew, as its form has to be filled in again. */
function leadToSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  isOwnOrigin: (origin: string) => boolean,
): FastifyReply {
  // A part of a page must not be filled with the page that signs in, nor be what one comes back to.
  if (isForPart(request)) {
    const page = pageOfPart(request.headers['hx-current-url'], isOwnOrigin)
    return reply.code(401).header('hx-redirect', signInAddress(page)).send()
  }
  return reply.redirect(signInAddress(request.method === 'GET' ? request.originalUrl : undefined), 303)
}

const signInAddress = (next: string | undefined): string =>
  addressWith('/console/login', { next: next === '/console' ? undefined : next })

/** The page of ours that asked for a part, as htmx says; undefined where it does not. */
function pageOfPart(url: string | string[] | undefined, isOwnOrigin: (origin: string) => boolean): string | undefined {
  const page = typeof url === 'string' ? URL.parse(url) : null
  return page !== null && isOwnOrigin(page.origin) ? nextPath(page.pathname + page.search) : undefined
}
