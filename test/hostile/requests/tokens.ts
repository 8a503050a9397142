import { createHmac } from 'node:crypto'
import { keys } from '../../soak/load/people.ts'

/** Claims of a token that is good for an hour, on top of which others are put; an undefined one is left out. */
export type Claims = Readonly<Record<string, unknown>>

export const seconds = (): number => Math.floor(Date.now() / 1000)

/**
 * Issued a little ahead of our clock, which the service allows for: an operator under attack ends sessions all the
 * time, and what was issued before is over then.
 */
export const goodClaims = (): Claims => ({ iat: seconds() + AHEAD_S, exp: seconds() + 3_600 })
const AHEAD_S = 4

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token put together by hand. */
export function sealed(header: object, claims: unknown, sign: (text: string) => string): string {
  const text = `${part(header)}.${part(claims)}`
  return `${text}.${sign(text)}`
}

export const hs256 =
  (secret: string) =>
  (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url')

/** A token that the service takes. */
export const signed = (claims: Claims): string =>
  sealed({ alg: 'HS256', typ: 'JWT' }, { ...goodClaims(), ...claims }, hs256(keys.JWT_SECRET))
