import jwt from '@fastify/jwt'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { JwtKey } from '../../config/credentials.ts'
import { recentlyUsed } from '../../db/queries/caches.ts'
import { parseId } from '../../ledger/rules/account.ts'
import { HttpError } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import { type Caller, plainStaffName, type StaffRole } from './caller.ts'
import type { IsSignatureValid } from './gate.ts'

/** Seconds by which the clock of the token's issuer may be ahead. */
const MAX_CLOCK_AHEAD_SECONDS = 5
const MAX_CACHED_TOKENS = 10_000

const claims = TypeCompiler.Compile(
  Type.Object({
    sub: Type.Union([Type.String(), Type.Integer()]),
    exp: Type.Number({ minimum: 0 }),
    iat: Type.Number(),
    role: Type.Optional(Type.Unknown()),
    aud: Type.Optional(Type.Unknown()),
    iss: Type.Optional(Type.Unknown()),
    name: Type.Optional(Type.Unknown()),
  }),
)

/** The claims that a token must have, in addition to a valid signature; null accepts anything. */
export interface TokenRules {
  readonly audience: string | null
  readonly issuer: string | null
  /** The longest time from `iat` to `exp`. */
  readonly maxTtlSeconds: number | null
}

export const tokenRulesOf = (config: Pick<Config, 'jwtAudience' | 'jwtIssuer' | 'jwtMaxTtlSeconds'>): TokenRules => ({
  audience: config.jwtAudience,
  issuer: config.jwtIssuer,
  maxTtlSeconds: config.jwtMaxTtlSeconds,
})

export const NO_RULES: TokenRules = Object.freeze({ audience: null, issuer: null, maxTtlSeconds: null })

export interface Token {
  /** Null for an unknown role. */
  readonly caller: Caller | null
  /** Seconds since 1970. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** What the holder is called; null where the token has no usable `name`. */
  readonly name: string | null
}

/** Verifies a token; returns a 401 or 440 for an invalid one. Never throws. */
export type VerifyToken = (token: string) => Token | HttpError

export const unauthenticated = (): HttpError =>
  new HttpError(401, 'unauthenticated', httpMessages.unauthenticated, { headers: { 'www-authenticate': 'Bearer' } })

/** A valid token of a user whom no operator has defined. */
export const unknownUser = (): HttpError =>
  new HttpError(401, 'unknown_user', httpMessages.unknown_user, {
    headers: { 'www-authenticate': 'Bearer' },
  })

export const sessionExpired = (): HttpError => new HttpError(440, 'session_expired', httpMessages.session_expired)

/** Whether a token's signature is valid, expired or not: the signature is checked before the expiry. */
export const signatureCheck =
  (verify: VerifyToken): IsSignatureValid =>
  (token) => {
    const found = verify(token)
    return !(found instanceof HttpError) || found.code === 'session_expired'
  }

/** The algorithm follows from the configured key, never from the token. */
export async function registerTokens(app: FastifyInstance, key: JwtKey, rules = NO_RULES): Promise<VerifyToken> {
  await app.register(jwt, {
    secret: key.kind === 'secret' ? key.secret : { public: key.key },
    // Expiry is checked last: only the holder of an otherwise valid token is asked to log in again.
    verify: { algorithms: [key.kind === 'secret' ? 'HS256' : key.algorithm], ignoreExpiration: true },
  })
  /**
   * Verified tokens. The verifier's own cache would hash each token to look it up, which takes longer
   * than all other checks together.
   */
  const cache = recentlyUsed<string, Token>(MAX_CACHED_TOKENS)
  return (text) => {
    let token = cache.get(text)
    if (token === undefined) {
      if (!isCanonical(text)) return unauthenticated()
      let payload: unknown
      try {
        payload = app.jwt.verify(text)
      } catch {
        return unauthenticated()
      }
      token = parseClaims(payload, rules)
      if (token === undefined) return unauthenticated()
      cache.set(text, token)
    }
    return isExpired(token) ? sessionExpired() : token
  }
}

/** The last letter of a part may have bits that count for nothing: of the spellings of a token only one is good. */
const isCanonical = (text: string): boolean =>
  text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

const isExpired = ({ expiresAt }: Token): boolean => Date.now() > expiresAt * 1000

function parseClaims(payload: unknown, { audience, issuer, maxTtlSeconds }: TokenRules): Token | undefined {
  if (!claims.Check(payload) || payload.iat > Date.now() / 1000 + MAX_CLOCK_AHEAD_SECONDS) return undefined
  if (maxTtlSeconds !== null && payload.exp - payload.iat > maxTtlSeconds) return undefined
  if (issuer !== null && payload.iss !== issuer) return undefined
  if (
    audience !== null &&
    payload.aud !== audience &&
    !(Array.isArray(payload.aud) && payload.aud.includes(audience))
  ) {
    return undefined
  }
  const caller = callerOf(String(payload.sub), 'role' in payload ? { role: payload.role } : null)
  const { iat: issuedAt, exp: expiresAt, name } = payload
  return caller === undefined ? undefined : { caller, issuedAt, expiresAt, name: isName(name) ? name : null }
}

const isName = (name: unknown): name is string => typeof name === 'string' && name.length >= 1 && name.length <= 100

/** Undefined for an invalid `sub`; null for an unknown role. */
function callerOf(sub: string, staff: { readonly role: unknown } | null): Caller | null | undefined {
  if (staff === null) {
    const id = parseId(sub)
    return id === null ? undefined : { kind: 'user', id }
  }
  const { role } = staff
  if (role !== 'operator' && role !== 'finance') return null
  const name = plainStaffName(sub)
  return name === null ? undefined : { kind: 'staff', role, sub: name }
}

/** A token for development; `app` must have been given a secret. `ttl` is a duration such as `12h`. */
export const signToken = (
  app: FastifyInstance,
  sub: string,
  role: StaffRole | null,
  ttl: string,
  { audience, issuer } = NO_RULES,
): string =>
  app.jwt.sign(role === null ? { sub } : { sub, role }, {
    expiresIn: ttl,
    ...(audience === null ? {} : { aud: audience }),
    ...(issuer === null ? {} : { iss: issuer }),
  })

/** How long a token of the socket playground is good. */
const USER_TOKEN_SECONDS = 600

/** Makes tokens of users for development; null where only the login service has the key. */
export function userTokenSigner(
  app: FastifyInstance,
  key: JwtKey,
  rules: TokenRules,
): ((userId: number) => string) | null {
  if (key.kind !== 'secret') return null
  const seconds = Math.min(USER_TOKEN_SECONDS, rules.maxTtlSeconds ?? USER_TOKEN_SECONDS)
  return (userId) => signToken(app, String(userId), null, `${seconds}s`, rules)
}

/** The token of an `Authorization: Bearer` header, if it has one. */
export const bearerToken = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
