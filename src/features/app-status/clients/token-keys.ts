import { recentlyUsed } from '../../../db/recently-used.ts'
import { type ClientKeys, clientKeysOf } from '../../../http/auth/client-keys.ts'
import type { IsSignatureValid } from '../../../http/auth/gate.ts'
import { bearerToken } from '../../../http/auth/tokens.ts'

/** Cached `Authorization` headers; the least recently used one is evicted. */
const MAX_CACHED_HEADERS = 20_000

/**
 * Keys of tokens with a valid signature, cached by header: without this cache the gate would check the signature of every
 * request once more.
 */
export class TokenKeys {
  readonly #keys = recentlyUsed<string, ClientKeys>(MAX_CACHED_HEADERS)

  /** The keys of the header's token; null without a validly signed token. */
  of(authorization: string | undefined, isSignatureValid: IsSignatureValid): ClientKeys | null {
    if (authorization === undefined) return null
    const cached = this.#keys.get(authorization)
    if (cached !== undefined) return cached
    const token = bearerToken(authorization)
    if (token === undefined || !isSignatureValid(token)) return null
    const keys = clientKeysOf(token)
    this.#keys.set(authorization, keys)
    return keys
  }
}
