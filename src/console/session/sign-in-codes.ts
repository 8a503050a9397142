import { createHash, randomBytes } from 'node:crypto'
import { isLoopback } from '../../config/config.ts'

const CODE_VALID_MS = 10 * 60_000

interface SignIn {
  readonly token: string
  readonly role: string
  readonly validUntil: number
}

/** Random codes for links that sign in, each good once and for 10 minutes. Kept in memory, by their hashes. */
export class SignInCodes {
  readonly #signIns = new Map<string, SignIn>()

  /** A code for a session with this token. `role` is what its page says. */
  create(token: string, role: string, now = Date.now()): string {
    const code = randomBytes(16).toString('base64url')
    this.#signIns.set(hashOf(code), { token, role, validUntil: now + CODE_VALID_MS })
    return code
  }

  /** Whom a code would sign in; undefined for an unknown or expired one. The code stays good. */
  roleOf(code: string, now = Date.now()): string | undefined {
    return this.#find(code, now)?.role
  }

  /** The token of a code, which is used up by this. */
  take(code: string, now = Date.now()): string | undefined {
    const found = this.#find(code, now)
    this.#signIns.delete(hashOf(code))
    return found?.token
  }

  #find(code: string, now: number): SignIn | undefined {
    const found = this.#signIns.get(hashOf(code))
    return found === undefined || now > found.validUntil ? undefined : found
  }
}

/** Null in production, and where other machines could open a link. */
export const createSignInCodes = ({ production, host }: { production: boolean; host: string }): SignInCodes | null =>
  production || !isLoopback(host) ? null : new SignInCodes()

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')
