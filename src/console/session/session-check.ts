import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { setStaffCaller } from '../../http/auth/auth.ts'
import { sessionExpired } from '../../http/auth/tokens.ts'
import type { LimitUnauthenticated } from '../../http/auth/unauthenticated-limit.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'
import { addressWith } from '../frame/address.ts'
import type { EndedSessions } from './ended-sessions.ts'
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
  readonly limitUnauthenticated: LimitUnauthenticated
}

/** Leads to the page that signs in, and from there back, whoever has no session. */
export function sessionCheck({
  findSession,
  endedSessions,
  production,
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
      return leadToSignIn(request, reply)
    }
    request[staffSymbol] = found
    setStaffCaller(request, { kind: 'staff', role: found.role, sub: found.sub })
    if (found.role === 'finance' && !isRead(request) && config.mayFinanceWrite !== true) {
      throw new HttpError(403, 'forbidden', httpMessages.forbidden)
    }
  }
}

const isRead = ({ method }: Pick<FastifyRequest, 'method'>): boolean => method === 'GET' || method === 'HEAD'

/** A GET comes back to its page; whatever else was sent begins anew, as its form has to be filled in again. */
function leadToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = request.method === 'GET' ? request.originalUrl : undefined
  const address = addressWith('/console/login', { next: next === '/console' ? undefined : next })
  // A part of a page must not be filled with the page that signs in.
  if (request.headers['hx-request'] === 'true') return reply.code(401).header('hx-redirect', address).send()
  return reply.redirect(address, 303)
}
