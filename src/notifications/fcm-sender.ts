import { sign } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ServiceAccount } from '../config/credentials.ts'
import { errorCode } from '../config/error-code.ts'
import { SingleFlight } from '../db/async.ts'
import type { Delivery, Outcome, Send } from './outbox.ts'

/** The pause after a quota error without Retry-After. */
const DEFAULT_QUOTA_WAIT_MS = 60_000

/** The parts of FCM's error responses that are used. */
const errorResponse = Type.Object({
  error: Type.Object({
    message: Type.Optional(Type.String()),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          errorCode: Type.Optional(Type.String()),
          fieldViolations: Type.Optional(Type.Array(Type.Object({ field: Type.Optional(Type.String()) }))),
        }),
      ),
    ),
  }),
})

/** Sends by Firebase Cloud Messaging, HTTP v1. `baseUrl` has no trailing slash; `signal` aborts all sends. */
export function fcmSender(account: ServiceAccount, baseUrl: string, signal: AbortSignal): Send {
  const url = `${baseUrl}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`
  const tokens = new AccessTokens(account, signal)
  return async (delivery) => {
    const access = await tokens.get()
    if ('refused' in access) return later('no access token: ', access.refused)
    const headers = { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' }
    const result = await post(url, headers, JSON.stringify({ message: messageOf(delivery) }), signal)
    if (result.status === 401) tokens.invalidate(access.token)
    return outcomeOf(result)
  }
}

/** The tag makes a message that is sent twice replace the first one on the device. */
function messageOf({ token, position, notification: { title, body, withdrawal_id, ...fields } }: Delivery) {
  const tag = `${fields.identifier}-${position}`
  return {
    token,
    notification: { title, body },
    // FCM takes texts only.
    data: { ...fields, ...(withdrawal_id !== undefined && { withdrawal_id: String(withdrawal_id) }) },
    android: { notification: { tag } },
    apns: { headers: { 'apns-collapse-id': tag } },
  }
}

function outcomeOf(result: HttpResult): Outcome {
  if (result.status === null) return later('', result)
  if (result.status === 200) return { kind: 'delivered' }
  const { code, isBadToken } = parseError(result.body)
  if (code === 'UNREGISTERED' || (result.status === 400 && isBadToken)) return { kind: 'gone' }
  // The device belongs to another sender, or FCM rejects the message.
  const isDeviceOnly = result.status === 400 || code === 'SENDER_ID_MISMATCH'
  return { ...later('', result), isDeviceOnly }
}

function later(prefix: string, result: HttpResult): Extract<Outcome, { kind: 'later' }> {
  if (result.status === null) return { kind: 'later', why: `${prefix}${result.why}`, isDeviceOnly: false, afterMs: 0 }
  const { status, body, retryAfterMs } = result
  const { code } = parseError(body)
  const afterMs = status === 429 && retryAfterMs === 0 ? DEFAULT_QUOTA_WAIT_MS : retryAfterMs
  return { kind: 'later', why: `${prefix}${status}${code === null ? '' : ` ${code}`}`, isDeviceOnly: false, afterMs }
}

/** FCM's error code, and whether the device token is malformed. */
function parseError(body: unknown): { readonly code: string | null; readonly isBadToken: boolean } {
  if (!Value.Check(errorResponse, body)) return { code: null, isBadToken: false }
  const { details = [], message = '' } = body.error
  const code = details.map(({ errorCode }) => errorCode).find((name) => /^[A-Z_]{1,40}$/.test(name ?? '')) ?? null
  const blamed = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field))
  const isBadToken =
    code === 'INVALID_ARGUMENT' &&
    (blamed.length > 0 ? blamed.every((field) => field === 'message.token') : /registration token/i.test(message))
  return { code, isBadToken }
}

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** A token is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 60_000

const tokenResponse = Type.Object({
  access_token: Type.String({ minLength: 1 }),
  expires_in: Type.Number({ minimum: 0 }),
})

/** An access token, or the response without one. */
type AccessResult = { readonly token: string } | { readonly refused: HttpResult }

/**
 * Access tokens for FCM, by the JWT bearer grant (RFC 7523); each is requested once and cached until shortly before it
 * expires. google-auth-library 10.9 would add 23 packages and 13 MB (`npm install`) for this one request, and an HTTP
 * client with retries and timeouts of its own.
 */
class AccessTokens {
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

/** An HTTP response, or why there is none. */
type HttpResult =
  | {
      readonly status: number
      /** The parsed body; undefined when it is not JSON. */
      readonly body: unknown
      /** From Retry-After; 0 without it. */
      readonly retryAfterMs: number
    }
  | { readonly status: null; readonly why: string }

const REQUEST_TIMEOUT_MS = 5_000

/** Never rejects. `signal` aborts the request. */
async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<HttpResult> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // The request carries credentials, which no other host may see.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: parseJson(text),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    }
  } catch (error) {
    return { status: null, why: failureReason(error) }
  }
}

/** Reads `Retry-After`, in seconds or as a date; 0 when it is neither. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return wait > 0 ? wait : 0
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `ECONNREFUSED`, `TimeoutError` …: names only, since messages may quote the request. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  return errorCode(error.cause) ?? error.name
}
