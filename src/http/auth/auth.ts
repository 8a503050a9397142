import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { HttpError } from '../errors/errors.ts'
import type { Caller } from './caller.ts'
import type { Sessions, StaffSessions } from './sessions.ts'
import type { LimitStranger } from './strangers.ts'
import { bearerToken, type ReadToken, sessionExpired, type Token, unauthenticated, unknownUser } from './tokens.ts'

const held = Symbol('caller')

declare module 'fastify' {
  interface FastifyRequest {
    [held]: Caller | null
  }
}

/** Gives requests their `caller`. */
export function decorateCaller(app: FastifyInstance): void {
  app.decorateRequest(held, null)
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      const caller = this[held]
      if (caller === null) throw new Error('this route has no token check')
      return caller
    },
  })
}

/**
 * The token check of client routes: users only. No promise and no query for a user who is known here, which is
 * nearly always. Failed authentications are limited by address.
 */
export const userCheck =
  (read: ReadToken, sessions: Pick<Sessions, 'over' | 'load'>, limitStranger: LimitStranger): onRequestHookHandler =>
  (request, _reply, done) => {
    const refuse = (error: HttpError): void => done(limitStranger(request) ?? error)
    const token = tokenOf(request, read)
    if (token instanceof HttpError) return refuse(token)
    const { caller, issuedAt } = token
    if (caller?.kind !== 'user') return done(forbidden())
    const admit = (over: number | null): void => {
      if (over === null) return refuse(unknownUser())
      if (issuedAt < over) return refuse(sessionExpired())
      request[held] = caller
      done()
    }
    const over = sessions.over(caller.id)
    if (over === undefined) sessions.load(caller.id).then(admit, done)
    else admit(over)
  }

/** The token check of /admin/v1: operators may do all, finance may read. */
export const staffCheck =
  (
    read: ReadToken,
    sessions: Pick<StaffSessions, 'over' | 'load'>,
    limitStranger: LimitStranger,
  ): onRequestHookHandler =>
  (request, _reply, done) => {
    const refuse = (error: HttpError): void => done(limitStranger(request) ?? error)
    const token = tokenOf(request, read)
    if (token instanceof HttpError) return refuse(token)
    const { caller, issuedAt } = token
    if (caller?.kind !== 'staff') return done(forbidden())
    const admit = (over: number | null): void => {
      if (over !== null && issuedAt < over) return refuse(sessionExpired())
      const reads = request.method === 'GET' || request.method === 'HEAD'
      if (caller.role === 'finance' && !reads) return done(forbidden())
      request[held] = caller
      done()
    }
    const over = sessions.over(caller.sub)
    if (over === undefined) sessions.load(caller.sub).then(admit, done)
    else admit(over)
  }

const forbidden = (): HttpError => new HttpError(403, 'forbidden', 'This is not for the holder of this token.')

function tokenOf(request: FastifyRequest, read: ReadToken): Token | HttpError {
  const token = bearerToken(request.headers.authorization)
  return token === undefined ? unauthenticated() : read(token)
}
