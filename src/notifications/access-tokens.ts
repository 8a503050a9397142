import { sign } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ServiceAccount } from '../config/service-account.ts'
import { type Heard, post } from './http-client.ts'

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** A token is replaced so long before it is over. */
const MARGIN_MS = 60_000

const answer = Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Type.Number({ minimum: 0 }) })

/** The access token, or what came back instead of one. */
export type Access = { readonly token: string } | { readonly refused: Heard }

/** Access tokens for FCM, each asked for once and kept until shortly before it is over. */
export class AccessTokens {
  readonly #account: ServiceAccount
  readonly #signal: AbortSignal
  #held: { readonly token: string; readonly until: number } | undefined
  #asking: Promise<Access> | undefined

  /** `signal` gives up what is being asked for. */
  constructor(account: ServiceAccount, signal: AbortSignal) {
    this.#account = account
    this.#signal = signal
  }

  /** Never rejects. Whoever asks while a token is on its way waits for that one. */
  get(): Promise<Access> {
    if (this.#held !== undefined && performance.now() < this.#held.until) {
      return Promise.resolve({ token: this.#held.token })
    }
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** The token was refused: the next one who asks gets a new one. */
  forget(token: string): void {
    if (this.#held?.token === token) this.#held = undefined
  }

  async #ask(): Promise<Access> {
    const body = new URLSearchParams({ grant_type: GRANT, assertion: assertion(this.#account, Date.now()) })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const heard = await post(this.#account.tokenUrl, headers, body.toString(), this.#signal)
    if (heard.status !== 200 || !Value.Check(answer, heard.body)) return { refused: heard }
    const { access_token: token, expires_in } = heard.body
    this.#held = { token, until: performance.now() + expires_in * 1000 - MARGIN_MS }
    return { token }
  }
}

/** A JWT that says who we are, signed with our key (RFC 7523). */
function assertion({ email, keyId, key, tokenUrl }: ServiceAccount, nowMs: number): string {
  const now = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) }
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: now, exp: now + 3_600 }
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
