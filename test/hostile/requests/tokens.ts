import { encodeToken, hs256, nowSeconds } from '../../harness/http/tokens.ts'
import { keys } from '../../harness/scenario/service-keys.ts'

/** Put on top of claims that are valid for an hour; an undefined one is left out. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Issued a little ahead of our clock, which the service allows for: an operator under attack revokes sessions all the
 * time, which ends tokens issued before.
 */
export const validClaims = (): Claims => ({ iat: nowSeconds() + AHEAD_S, exp: nowSeconds() + 3_600 })
const AHEAD_S = 4

/** A token that the service accepts. */
export const signed = (claims: Claims): string =>
  encodeToken({ alg: 'HS256', typ: 'JWT' }, { ...validClaims(), ...claims }, hs256(keys.JWT_SECRET))
