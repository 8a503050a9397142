import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { sha256 } from '../../ledger/rules/hash.ts'

/** The keys under which the client type and version of a token are stored. Hashes: tokens must not be stored. */
export interface ClientKeys {
  readonly token: string
  /** The key of the token's user, whose other tokens tell, too; null for staff. */
  readonly user: string | null
}

export const tokenKey = (token: string): string => sha256(token)

export const userKey = (id: number | string): string => sha256(`user:${id}`)

const Claims = Type.Object({ sub: Type.Union([Type.String(), Type.Number()]), role: Type.Optional(Type.Unknown()) })

/** The keys of a token whose signature is valid. */
export function clientKeysOf(token: string): ClientKeys {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const user = Value.Check(Claims, claims) && claims.role === undefined ? userKey(claims.sub) : null
  return { token: tokenKey(token), user }
}
