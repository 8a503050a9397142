import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { LocalizedText } from '../../../schema/languages.ts'
import { type LimitUnauthenticated, setStaffCaller } from '../../http/auth/auth.ts'
import type { StaffRole } from '../../http/auth/caller.ts'
import type { StaffSessions } from '../../http/auth/sessions.ts'
import { sessionExpired, unauthenticated, type VerifyToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'
import { addressWith } from '../layout/links.ts'
import { clearSessionCookie, type EndedSessions, readSessionCookie, type SessionCookie } from './session-cookie.ts'

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

/** Refuses a page that only leads to what operators may do. */
export function requireOperator(request: FastifyRequest): void {
  if (staffOf(request).role !== 'operator') throw new HttpError(403, 'forbidden', httpMessages.forbidden)
}

interface SessionCheckOptions {
  readonly findSession: FindStaffSession
  readonly endedSessions: EndedSessions
  readonly production: boolean
  /** Whether this is the service's own address. */
  readonly isOwnOrigin: (origin: string) => boolean
  readonly limitUnauthenticated: LimitUnauthenticated
}

/** Leads a browser without a session to the page that signs in, and from there back. */
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

/** A GET comes back to its page; whatever else was sent begins again, as its form has to be filled in again. */
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

/** Who looks at a page, as the token of the session says. */
export interface StaffSession {
  readonly token: string
  readonly sub: string
  /** The token's `name`, or its `sub`. */
  readonly name: string
  readonly role: StaffRole
  /** Seconds since 1970. */
  readonly expiresAt: number
}

export type FindStaffSession = (token: string) => Promise<StaffSession | HttpError>

/** Checks a token as /admin/v1 does: its signature, its role, its expiry, and whether its sessions were ended. */
export const staffSessionFinder =
  (verify: VerifyToken, sessions: Pick<StaffSessions, 'validAfter' | 'load'>): FindStaffSession =>
  async (text) => {
    const token = verify(text)
    if (token instanceof HttpError) return token
    const { caller, issuedAt, expiresAt, name } = token
    if (caller?.kind !== 'staff') return new HttpError(403, 'forbidden', httpMessages.forbidden)
    const { sub, role } = caller
    const validAfter = sessions.validAfter(sub) ?? (await sessions.load(sub))
    if (validAfter === null) return unauthenticated()
    return issuedAt < validAfter ? sessionExpired() : { token: text, sub, name: name ?? sub, role, expiresAt }
  }

/** What browsers take for a step upwards: `..`, also encoded. */
const DOT_SEGMENT = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i

/** Where a page may lead after signing in: a path of the console, so that no link can lead elsewhere. */
export const isConsolePath = (path: string): boolean =>
  path.length <= 2_000 &&
  /^\/console(?:[/?]|$)/.test(path) &&
  !/\/\/|\\|[^\x21-\x7e]/.test(path) &&
  !DOT_SEGMENT.test(path)

/** `next` when it is a path of the console, and else its first page. */
export const nextPath = (next: string | undefined): string =>
  next !== undefined && isConsolePath(next) ? next : '/console'

const foreignForm: LocalizedText = {
  en: 'This form was not sent from a page of the console. Nothing was changed.',
  ar: 'لم يُرسل هذا النموذج من صفحة في لوحة التحكم. لم يتغير شيء.',
}

const outdated: LocalizedText = {
  en: 'This form is no longer valid. Go back, load its page again and send it once more. Nothing was changed.',
  ar: 'لم يعد هذا النموذج صالحًا. ارجع وأعد تحميل صفحته ثم أرسله مرة أخرى. لم يتغير شيء.',
}

/** A form without the token that its page was given, or with one of another session. */
export const outdatedForm = (): HttpError => new HttpError(403, 'forbidden', outdated)

/** A 403 unless the browser says that a page of ours sends this form. */
export function foreignFormError(
  { headers }: Pick<FastifyRequest, 'headers'>,
  isOwnOrigin: (origin: string) => boolean,
): HttpError | undefined {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isOurs = origin !== undefined && isOwnOrigin(origin) && (site === undefined || site === 'same-origin')
  return isOurs ? undefined : new HttpError(403, 'forbidden', foreignForm)
}
