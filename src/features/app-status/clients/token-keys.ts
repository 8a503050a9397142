import { type IsSignatureValid, tokenKey } from '../../../http/auth/gate.ts'
import { bearerToken } from '../../../http/auth/tokens.ts'

/** `Authorization` headers whose keys are remembered; the one that came first makes room. */
const MAX_CACHED_HEADERS = 20_000

/** The keys of tokens that are ours, by the headers that they come in: to read one takes longer than to judge by it. */
export class TokenKeys {
  readonly #keys = new Map<string, string>()

  /** Null for a header without a token of ours. */
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
