import { type IsSignatureValid, tokenKey } from '../../../http/auth/gate.ts'
import { bearerToken } from '../../../http/auth/tokens.ts'

/** Cached `Authorization` headers; the oldest is evicted. */
const MAX_CACHED_HEADERS = 20_000

/**
 * Keys of tokens with a valid signature, cached by header: without this cache the gate takes another 16 µs of a request
 * by its token (`npm run bench -- --only gate`, 2026-11-23).
 */
export class TokenKeys {
  readonly #keys = new Map<string, string>()

  /** The key of the header's token; null without a validly signed token. */
  of(authorization: string | undefined, isSignatureValid: IsSignatureValid): string | null {
    if (authorization === undefined) return null
    const cached = this.#keys.get(authorization)
    if (cached !== undefined) return cached
    const token = bearerToken(authorization)
    if (token === undefined || !isSignatureValid(token)) return null
    if (this.#keys.size >= MAX_CACHED_HEADERS) this.#evictOldest()
    const key = tokenKey(token)
    this.#keys.set(authorization, key)
    return key
  }

  #evictOldest(): void {
    for (const oldest of this.#keys.keys()) {
      this.#keys.delete(oldest)
      return
    }
  }
}
