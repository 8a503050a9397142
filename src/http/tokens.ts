import jwt from '@fastify/jwt'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance } from 'fastify'
import { errorCode } from '../error-code.ts'
import type { JwtKey } from '../jwt-key.ts'
import type { Caller, StaffRole } from './caller.ts'
import { HttpError } from './errors.ts'
import type { IsOurs } from './gate.ts'
import { pathId } from './ids.ts'

/** Seconds by which the clock of whoever issues tokens may be ahead of ours. */
const CLOCK_AHEAD = 60
/** Tokens that are remembered at a time. */
const MOST_KNOWN = 10_000

const claims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.Union([Type.String(), Type.Integer()]),
    exp: Type.Number(),
    iat: Type.Number(),
    role: Type.Optional(Type.Unknown()),
  }),
)

export interface Token {
  /** Null for a role that is none of ours. */
  readonly caller: Caller | null
  /** Seconds since 1970. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Reads a token; answers 401 or 440 for one that is no good. Never throws. */
export type ReadToken = (token: string) => Token | HttpError

export const unauthenticated = (): HttpError =>
  new HttpError(401, 'unauthenticated', 'A valid token is needed.', { headers: { 'www-authenticate': 'Bearer' } })

export const sessionExpired = (): HttpError =>
  new HttpError(440, 'session_expired', 'The session is over; log in again.')

/** Which tokens bear our signature: the signature is looked at before the time. */
export const ourTokens =
  (read: ReadToken): IsOurs =>
  (token) => {
    const found = read(token)
    return !(found instanceof HttpError) || found.code === 'session_expired'
  }

/** The algorithm hangs on the configured key, never on what a token says of itself. */
export async function registerTokens(app: FastifyInstance, key: JwtKey): Promise<ReadToken> {
  await app.register(jwt, {
    secret: key.kind === 'secret' ? key.secret : { public: key.key },
    verify: { algorithms: [key.kind === 'secret' ? 'HS256' : key.algorithm] },
  })
  /**
   * What was read before, the oldest first. The verifier's own cache would hash each token to look it up, which takes
   * longer than all other checks together.
   */
  const known = new Map<string, Token>()
  return (token) => {
    const before = known.get(token)
    if (before !== undefined) return isOver(before) ? sessionExpired() : before
    let payload: unknown
    try {
      payload = app.jwt.verify(token)
    } catch (error) {
      // The signature is looked at before the time: only a token of ours can be expired.
      return errorCode(error) === 'FAST_JWT_EXPIRED' ? sessionExpired() : unauthenticated()
    }
    const read = readClaims(payload)
    if (read === undefined) return unauthenticated()
    const oldest = known.size >= MOST_KNOWN ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    known.set(token, read)
    return read
  }
}

export const isOver = ({ expiresAt }: Token): boolean => Date.now() > expiresAt * 1000

function readClaims(payload: unknown): Token | undefined {
  if (!claims.Check(payload) || payload.iat > Date.now() / 1000 + CLOCK_AHEAD) return undefined
  const caller = callerOf(String(payload.sub), 'role' in payload ? { role: payload.role } : null)
  return caller === undefined ? undefined : { caller, issuedAt: payload.iat, expiresAt: payload.exp }
}

/** Undefined when that is nobody's `sub`; null for a role that is none of ours. */
function callerOf(sub: string, staff: { readonly role: unknown } | null): Caller | null | undefined {
  if (staff === null) {
    const id = pathId(sub)
    return id === null ? undefined : { kind: 'user', id }
  }
  const { role } = staff
  if (role !== 'operator' && role !== 'finance') return null
  return isStaffSub(sub) ? { kind: 'staff', role, sub } : undefined
}

/** What names a member of staff: it stands on the ledger and in logs as it is. */
export const isStaffSub = (sub: string): boolean => /^[\x20-\x7e]{1,100}$/.test(sub)

/** A token for development; `app` must have been given a secret. `ttl` is a duration such as `12h`. */
export const signToken = (app: FastifyInstance, sub: string, role: StaffRole | null, ttl: string): string =>
  app.jwt.sign(role === null ? { sub } : { sub, role }, { expiresIn: ttl })

/** The token of an `Authorization: Bearer` header, if it has one. */
export const bearerToken = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
