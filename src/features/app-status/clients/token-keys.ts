import { type IsOurs, tokenKey } from '../../../http/auth/gate.ts'
import { bearerToken } from '../../../http/auth/tokens.ts'

/** `Authorization` headers whose keys are remembered; the one that came first makes room. */
const MOST_KNOWN = 20_000

/** The keys of tokens that are ours, by the headers that they come in: to read one takes longer than to judge by it. */
export class TokenKeys {
  readonly #known = new Map<string, string>()

  /** Null for a header without a token of ours. */
  of(authorization: string | undefined, isOurs: IsOurs): string | null {
    if (authorization === undefined) return null
    const known = this.#known.get(authorization)
    if (known !== undefined) return known
    const token = bearerToken(authorization)
    if (token === undefined || !isOurs(token)) return null
    if (this.#known.size >= MOST_KNOWN) this.#forgetOne()
    const key = tokenKey(token)
    this.#known.set(authorization, key)
    return key
  }

  #forgetOne(): void {
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
