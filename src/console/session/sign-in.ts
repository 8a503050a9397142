import { createHash, randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback } from '../../config/config.ts'
import type { App } from '../../features/services.ts'
import type { LimitUnauthenticated } from '../../http/auth/auth.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { sendPage } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import { type FindStaffSession, nextPath } from './session-check.ts'
import {
  clearSessionCookie,
  type EndedSessions,
  MAX_TOKEN_CHARACTERS,
  readSessionCookie,
  setSessionCookie,
} from './session-cookie.ts'

const loginTemplate = defineTemplate<{ next: string; problem: string | null; isDevelopment: boolean }>(
  '/session/login.eta',
)
const linkTemplate = defineTemplate<{ code: string; role: string | null }>('/session/sign-in-link.eta')

const Next = Type.Optional(Type.String({ maxLength: 4_000 }))
const LoginForm = Type.Object({ token: Type.Optional(Type.String({ maxLength: 8_000 })), next: Next })
const CodeQuery = Type.Object({ code: Type.Optional(Type.String({ maxLength: 100 })) })

interface SignInOptions {
  readonly findSession: FindStaffSession
  readonly endedSessions: EndedSessions
  readonly production: boolean
  readonly signInCodes: SignInCodes | null
  readonly limitUnauthenticated: LimitUnauthenticated
}

/** Signing in by a staff token, or by a link with a code, and signing out. */
export function signInPages(
  scope: App,
  { findSession, endedSessions, production, signInCodes, limitUnauthenticated }: SignInOptions,
): void {
  const showLogin = (request: FastifyRequest, reply: FastifyReply, next: string, problem: string | null) =>
    sendPage(request, reply, loginTemplate, {
      title: 'Sign in',
      status: problem === null ? 200 : 422,
      data: { next, problem, isDevelopment: signInCodes !== null },
    })

  const signIn = async (request: FastifyRequest, reply: FastifyReply, token: string, next: string) => {
    const found = await findSession(token)
    if (found instanceof HttpError) {
      const refusal = limitUnauthenticated(request)
      if (refusal !== undefined) throw refusal
      return showLogin(request, reply, next, problemWith(found))
    }
    if (token.length > MAX_TOKEN_CHARACTERS) return showLogin(request, reply, next, tooLong)
    // Nobody can use a copy of the session that this one replaces.
    const replaced = readSessionCookie(request, production)
    if (replaced !== undefined) await endedSessions.add(replaced.id)
    setSessionCookie(request, reply, { token, expiresAt: found.expiresAt, production })
    return reply.redirect(next, 303)
  }

  scope.get(
    '/login',
    { config: { needsNoSession: true }, schema: { querystring: Type.Object({ next: Next }) } },
    (request, reply) => showLogin(request, reply, nextPath(request.query.next), null),
  )

  scope.post('/login', { config: { needsNoSession: true }, schema: { body: LoginForm } }, (request, reply) => {
    const { token = '', next } = request.body
    return signIn(request, reply, token.trim(), nextPath(next))
  })

  scope.post('/sign-out', { config: { mayFinanceWrite: true } }, async (request, reply) => {
    const cookie = readSessionCookie(request, production)
    // Stored first: while that fails, staff are told so, and can sign out again.
    if (cookie !== undefined) await endedSessions.add(cookie.id)
    clearSessionCookie(request, reply, production)
    return reply.redirect('/console/login', 303)
  })

  if (signInCodes === null) return
  scope.get('/sign-in', { config: { needsNoSession: true }, schema: { querystring: CodeQuery } }, (request, reply) => {
    const { code = '' } = request.query
    const role = signInCodes.roleOf(code) ?? null
    return sendPage(request, reply, linkTemplate, {
      title: 'Sign in',
      status: role === null ? 404 : 200,
      data: { code, role },
    })
  })
  scope.post('/sign-in', { config: { needsNoSession: true }, schema: { body: CodeQuery } }, (request, reply) => {
    const { code = '' } = request.body
    const token = signInCodes.take(code)
    if (token === undefined) {
      return sendPage(request, reply, linkTemplate, { title: 'Sign in', status: 404, data: { code: '', role: null } })
    }
    return signIn(request, reply, token, '/console')
  })
}

const tooLong = 'This token is too long for a session in a browser. Ask for one that says less.'

const problemWith = ({ code }: HttpError): string => {
  if (code === 'session_expired') return 'This token has expired or was ended. Ask for a new one.'
  if (code === 'forbidden') return 'This token is not one of staff. Only finance and operators may sign in.'
  return 'This is not a valid token.'
}

const CODE_VALID_MS = 10 * 60_000

interface SignIn {
  readonly token: string
  readonly role: string
  readonly validUntil: number
}

/** Random codes for links that sign in, each good once and for 10 minutes. Kept in memory, by their hashes. */
export class SignInCodes {
  readonly #signIns = new Map<string, SignIn>()

  /** A code for a session with this token. `role` is what its page says. */
  create(token: string, role: string, now = Date.now()): string {
    const code = randomBytes(16).toString('base64url')
    this.#signIns.set(hashOf(code), { token, role, validUntil: now + CODE_VALID_MS })
    return code
  }

  /** Whom a code would sign in; undefined for an unknown or expired one. The code stays good. */
  roleOf(code: string, now = Date.now()): string | undefined {
    return this.#find(code, now)?.role
  }

  /** The token of a code, which is used up by this. */
  take(code: string, now = Date.now()): string | undefined {
    const found = this.#find(code, now)
    this.#signIns.delete(hashOf(code))
    return found?.token
  }

  #find(code: string, now: number): SignIn | undefined {
    const found = this.#signIns.get(hashOf(code))
    return found === undefined || now > found.validUntil ? undefined : found
  }
}

/** Null in production, and where other machines could open a link. */
export const createSignInCodes = ({ production, host }: { production: boolean; host: string }): SignInCodes | null =>
  production || !isLoopback(host) ? null : new SignInCodes()

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')
