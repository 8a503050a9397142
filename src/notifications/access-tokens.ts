import { sign } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ServiceAccount } from '../config/credentials.ts'
import { SingleFlight } from '../db/async.ts'
import { type HttpResult, post } from './http-client.ts'

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** A token is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 60_000

const tokenResponse = Type.Object({
  access_token: Type.String({ minLength: 1 }),
  expires_in: Type.Number({ minimum: 0 }),
})

/** An access token, or the response without one. */
export type AccessResult = { readonly token: string } | { readonly refused: HttpResult }

/**
 * Access tokens for FCM, by the JWT bearer grant (RFC 7523); each is requested once and cached until shortly before it
 * expires. google-auth-library 10.9 would add 23 packages and 13 MB (`npm install`) for this one request, and an HTTP
 * client with retries and timeouts of its own.
 */
export class AccessTokens {
  readonly #account: ServiceAccount
  readonly #signal: AbortSignal
  #cached: { readonly token: string; readonly until: number } | undefined
  readonly #requests = new SingleFlight(() => this.#request())

  /** `signal` aborts requests. */
  constructor(account: ServiceAccount, signal: AbortSignal) {
    this.#account = account
    this.#signal = signal
  }

  /** Never rejects. Concurrent callers share one request. */
  get(): Promise<AccessResult> {
    if (this.#cached !== undefined && performance.now() < this.#cached.until) {
      return Promise.resolve({ token: this.#cached.token })
    }
    return this.#requests.run()
  }

  /** Called when a token was refused: the next caller gets a new one. */
  invalidate(token: string): void {
    if (this.#cached?.token === token) this.#cached = undefined
  }

  async #request(): Promise<AccessResult> {
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, assertion: signedAssertion(this.#account, Date.now()) })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const result = await post(this.#account.tokenUrl, headers, body.toString(), this.#signal)
    if (result.status !== 200 || !Value.Check(tokenResponse, result.body)) return { refused: result }
    const { access_token: token, expires_in } = result.body
    this.#cached = { token, until: performance.now() + expires_in * 1000 - EXPIRY_MARGIN_MS }
    return { token }
  }
}

/** A JWT that names the service account, signed with its key. */
function signedAssertion({ email, keyId, key, tokenUrl }: ServiceAccount, nowMs: number): string {
  const now = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) }
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: now, exp: now + 3_600 }
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
