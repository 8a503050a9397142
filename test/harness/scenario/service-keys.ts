import { encodeToken, hs256, nowSeconds } from '../http/tokens.ts'

/** Keys of the instances of soak and attack run. */
export const keys = {
  JWT_SECRET: 'a secret for the tokens of a soak',
  FAIRNESS_KEY: '5b1f0c8e9a7d4362b8e1f7a09c3d5e6412ab89cdef0734561f2e3d4c5b6a7988',
  PII_KEY: '83c7d2e19f604b5a8d3c2b1a0f9e8d7c6b5a49382716f5e4d3c2b1a0ffeeddcb',
  CHECKPOINT_KEY: 'c94e1d7b28f35a6091b2c3d4e5f60718293a4b5c6d7e8f901a2b3c4d5e6f7081',
} as const

/** Claims of a token; an undefined one is left out. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Issued a little ahead of this clock, which the service allows for: an operator under attack revokes sessions all the
 * time, which ends tokens issued before.
 */
const AHEAD_SECONDS = 4

export const validClaims = (): Claims => ({ iat: nowSeconds() + AHEAD_SECONDS, exp: nowSeconds() + 3_600 })

/** A token that the instances accept, for an hour unless the claims say otherwise. */
export const signed = (claims: Claims): string =>
  encodeToken({ alg: 'HS256', typ: 'JWT' }, { ...validClaims(), ...claims }, hs256(keys.JWT_SECRET))
