import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ServiceAccount } from '../config/credentials.ts'
import { AccessTokens } from './access-tokens.ts'
import { type HttpResult, post } from './http-client.ts'
import type { Delivery, Outcome, Send } from './sender.ts'

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
