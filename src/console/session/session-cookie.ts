import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import { PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'

/** A session ends with its token, and after this time at the latest. */
const MAX_SESSION_SECONDS = 12 * 3_600

/** Browsers drop cookies of more than 4,096 bytes, name, time, id and signature included. */
export const MAX_TOKEN_CHARACTERS = 3_900

/** What the cookie of a session holds. */
export interface SessionCookie {
  /** Random, so that signing out ends this session and no other one with the same token. */
  readonly id: string
  /** Seconds since 1970. */
  readonly signedInAt: number
  readonly token: string
}

/** Whether the browser's connection is encrypted: `TRUST_PROXY` makes the proxy's word count. */
export const isSecure = (request: FastifyRequest, production: boolean): boolean =>
  production || request.protocol === 'https'

/** Over TLS only the cookie that no plain page and no other host of the domain can have set. */
export const cookieName = (name: string, isSecureNow: boolean): string => (isSecureNow ? `__Host-${name}` : name)

const nameFor = (request: FastifyRequest, production: boolean): string =>
  cookieName('console', isSecure(request, production))

/** The session's cookie, as the service has signed it; undefined without one, and for one that was changed or is over. */
export function readSessionCookie(request: FastifyRequest, production: boolean): SessionCookie | undefined {
  const signed = request.cookies[nameFor(request, production)]
  if (signed === undefined) return undefined
  const { valid, value } = request.unsignCookie(signed)
  if (!valid || value === null) return undefined
  const [, seconds = '', id = '', token = ''] = /^(\d{1,12})\.([\w-]{22})\.(.+)$/.exec(value) ?? []
  const signedInAt = Number(seconds)
  if (token === '' || Date.now() > (signedInAt + MAX_SESSION_SECONDS) * 1_000) return undefined
  return { id, signedInAt, token }
}

/** Begins a session with this token. `expiresAt` is the token's, in seconds since 1970. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, expiresAt, production }: { token: string; expiresAt: number; production: boolean },
): void {
  const now = Math.floor(Date.now() / 1_000)
  const id = randomBytes(16).toString('base64url')
  reply.setCookie(nameFor(request, production), `${now}.${id}.${token}`, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(request, production),
    signed: true,
    maxAge: Math.max(0, Math.min(MAX_SESSION_SECONDS, Math.floor(expiresAt) - now)),
  })
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply, production: boolean): void {
  reply.clearCookie(nameFor(request, production), {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(request, production),
  })
}

/** Longer than any session lasts: after that its cookie is over by itself. */
const RETENTION = '1 day'

/** Which sessions ended by signing out. Every instance asks the database, so an end holds everywhere at once. */
export interface EndedSessions {
  readonly has: (sessionId: string) => Promise<boolean>
  /** Ends a session; one that has ended stays so. */
  readonly add: (sessionId: string) => Promise<void>
}

const findEnded = new PreparedStatement<{ id: string }>(
  'ended console session',
  'select id from ended_console_sessions where id = $1',
)

export const endedSessionsIn = (db: Kysely<Tables>): EndedSessions => ({
  has: async (sessionId) => (await findEnded.execute(db, [sessionId])).length > 0,
  async add(sessionId) {
    await sql`
      insert into ended_console_sessions (id, ended_at) values (${sessionId}, now()) on conflict (id) do nothing
    `.execute(db)
  },
})

/** Deletes the rows of sessions whose cookies are over. */
export const pruneEndedSessions = (pool: Pool): Promise<void> =>
  deleteOlderRows(pool, 'ended_console_sessions', RETENTION)
