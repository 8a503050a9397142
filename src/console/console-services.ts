import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ReportLimiter } from '../audit/routes/report-limiter.ts'
import type { AuditParts } from '../audit/routes/requests.ts'
import type { App, Services } from '../features/services.ts'
import { HttpError } from '../http/errors/http-error.ts'
import { etagOf } from '../http/validation/request-parts.ts'
import type { ConnectionRegistry } from '../realtime/sockets/connection-registry.ts'
import { staffOf } from './session/session-check.ts'
import type { SignInCodes } from './session/sign-in.ts'

/** What the console needs besides the services of all routes. */
export interface ConsoleOptions {
  /** Signs cookies and the tokens of forms; the same on all instances. */
  readonly cookieKey: string
  readonly production: boolean
  /** Whether this is the service's own address, from which its forms are sent. */
  readonly isOwnOrigin: (origin: string) => boolean
  /** Links that sign in, for development on this machine; null: there are none. */
  readonly signInCodes: SignInCodes | null
  readonly audit: AuditParts
}

/** What the parts of the service that run alongside the console give it. */
export interface ConsoleNeighbours {
  /** Sockets of this instance, which counts those that listen to a channel; null: it serves none. */
  readonly sockets: Pick<ConnectionRegistry, 'sockets' | 'listenerCounts'> | null
  /** Makes a short token of a user, for development; null in production, and where only the login service can. */
  readonly signUserToken: ((userId: number) => string) | null
}

/** What pages read with and act by. */
export interface ConsoleServices
  extends Services,
    ConsoleNeighbours,
    Omit<ConsoleOptions, 'cookieKey' | 'signInCodes'> {
  /** Sends a request to /admin/v1 as the member of staff who sent this one. */
  readonly adminRequest: AdminRequest
  /** What reads many rows for a file waits for its turn. */
  readonly exportLimiter: ReportLimiter
}

/** Adds the routes of some pages. Paths begin after `/console`. */
export type ConsolePages = (scope: App, services: ConsoleServices) => void

interface AdminRequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Under /admin/v1, with its query: `/withdrawals/38/approve`. */
  readonly path: string
  readonly body?: unknown
  /** The version that must be stored; empty: nothing may be. Left out: whatever there is. */
  readonly expects?: string | undefined
  /** From the form, so that a form that is sent twice acts once. */
  readonly idempotencyKey?: string
}

/** What /admin/v1 answered. */
interface AdminResponse {
  readonly status: number
  /** Parsed; null for an empty body. */
  readonly body: unknown
}

/** Sends a request to /admin/v1 in this process, with the token of the session: the same checks, verbs and refusals. */
export type AdminRequest = (request: FastifyRequest, options: AdminRequestOptions) => Promise<AdminResponse>

export const adminRequests =
  (app: FastifyInstance): AdminRequest =>
  async (request, { method = 'GET', path, body, expects, idempotencyKey }) => {
    const response = await app.inject({
      method,
      url: `/admin/v1${path}`,
      remoteAddress: request.ip,
      headers: {
        authorization: `Bearer ${staffOf(request).token}`,
        'accept-language': 'en',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(expects === undefined ? {} : expectation(expects)),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return { status: response.statusCode, body: response.body === '' ? null : response.json<unknown>() }
  }

const expectation = (version: string): Readonly<Record<string, string>> =>
  version === '' ? { 'if-none-match': '*' } : { 'if-match': etagOf(version) }

/** The body of a response that must not be an error; throws it as one otherwise, for the page of errors. */
export function bodyOf({ status, body }: AdminResponse): unknown {
  if (status < 400) return body
  throw adminError({ status, body })
}

/** An error of /admin/v1 as one of a page. */
export function adminError({ status, body }: AdminResponse): HttpError {
  const { code, message, errors } = Object(body)
  const text = typeof message === 'string' ? message : 'The request failed.'
  const fields: [string, { en: string; ar: string }[]][] = Object.entries(Object(errors)).map(([name, texts]) => [
    name,
    Array.isArray(texts) ? texts.map((line) => ({ en: String(line), ar: String(line) })) : [],
  ])
  return new HttpError(
    status,
    typeof code === 'string' ? code : 'failed',
    { en: text, ar: text },
    fields.length === 0 ? {} : { errors: Object.fromEntries(fields) },
  )
}
