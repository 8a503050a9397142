import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ServiceAccount } from '../config/service-account.ts'
import { AccessTokens } from './access-tokens.ts'
import { type HttpResult, post } from './http-client.ts'
import type { Delivery, Outcome, Send } from './sender.ts'

/** How long FCM wants to be left alone when it says that it is too much, and not for how long. */
const DEFAULT_QUOTA_WAIT_MS = 60_000

/** The parts of FCM's errors that are looked at. */
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

/** The sender for Firebase Cloud Messaging, HTTP v1. `baseUrl` has no slash at its end; `signal` gives up all sends. */
export function fcmSender(account: ServiceAccount, baseUrl: string, signal: AbortSignal): Send {
  const url = `${baseUrl}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`
  const tokens = new AccessTokens(account, signal)
  return async (delivery) => {
    const access = await tokens.get()
    if ('refused' in access) return later('no access token: ', access.refused)
    const headers = { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' }
    const heard = await post(url, headers, JSON.stringify({ message: messageOf(delivery) }), signal)
    if (heard.status === 401) tokens.invalidate(access.token)
    return outcomeOf(heard)
  }
}

/** Sent again, it takes the place of the first one on the device. */
function messageOf({ token, position, notification: { title, body, type, identifier } }: Delivery) {
  const tag = `${identifier}-${position}`
  return {
    token,
    notification: { title, body },
    data: { type, identifier },
    android: { notification: { tag } },
    apns: { headers: { 'apns-collapse-id': tag } },
  }
}

function outcomeOf(heard: HttpResult): Outcome {
  if (heard.status === null) return later('', heard)
  if (heard.status === 200) return { kind: 'delivered' }
  const { code, badToken } = parseError(heard.body)
  if (code === 'UNREGISTERED' || (heard.status === 400 && badToken)) return { kind: 'gone' }
  // Another sender's device, or a message that FCM does not take.
  const deviceOnly = heard.status === 400 || code === 'SENDER_ID_MISMATCH'
  return { ...later('', heard), deviceOnly }
}

function later(prefix: string, heard: HttpResult): Extract<Outcome, { kind: 'later' }> {
  if (heard.status === null) return { kind: 'later', why: `${prefix}${heard.why}`, deviceOnly: false, afterMs: 0 }
  const { status, body, retryAfterMs } = heard
  const { code } = parseError(body)
  const afterMs = status === 429 && retryAfterMs === 0 ? DEFAULT_QUOTA_WAIT_MS : retryAfterMs
  return { kind: 'later', why: `${prefix}${status}${code === null ? '' : ` ${code}`}`, deviceOnly: false, afterMs }
}

/** What FCM has against a message: its own code, and whether the token is one that never was. */
function parseError(body: unknown): { readonly code: string | null; readonly badToken: boolean } {
  if (!Value.Check(errorResponse, body)) return { code: null, badToken: false }
  const { details = [], message = '' } = body.error
  const code = details.map(({ errorCode }) => errorCode).find((word) => /^[A-Z_]{1,40}$/.test(word ?? '')) ?? null
  const blamed = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field))
  const badToken =
    code === 'INVALID_ARGUMENT' &&
    (blamed.length > 0 ? blamed.every((field) => field === 'message.token') : /registration token/i.test(message))
  return { code, badToken }
}
