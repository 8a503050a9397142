import { STATUS_CODES } from 'node:http'
import type { ErrorBody } from '../../../schema/common.ts'
import type { Language, LocalizedText } from '../../../schema/languages.ts'
import { errorCode } from '../../config/error-code.ts'
import { PoolExhausted } from '../../db/pool.ts'
import { isConnectionError, isOverload, isRecoveryConflict } from '../../db/postgres-errors.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { Closed, Overloaded, Unavailable } from '../../ledger/executor/failures.ts'
import { IndexLagExceeded } from '../../ledger/indexes/index-reads.ts'
import { httpMessages } from '../messages.ts'

/** An error response of a route or a check; it is sent in the language of its request. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly text: LocalizedText
  readonly errors: FieldErrors | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    text: LocalizedText,
    options: { errors?: FieldErrors; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(text.en)
    this.status = status
    this.code = code
    this.text = text
    this.errors = options.errors
    this.headers = options.headers ?? {}
  }
}

/** A path parameter that cannot be an id. Every other fault of the request's form is reported before it. */
export class InvalidPathParam extends HttpError {
  constructor() {
    super(404, 'not_found', httpMessages.not_found)
  }
}

export const notFound = (): HttpError => new HttpError(404, 'not_found', httpMessages.not_found)

/** What an error says, in every language. */
interface Problem {
  readonly code: string
  readonly text: LocalizedText
  readonly errors?: FieldErrors | undefined
  /** How what was to be changed is now. */
  readonly data?: unknown
}

/** The body of every error. */
export function errorBody({ code, text, errors, data }: Problem, requestId: string, language: Language): string {
  const body: ErrorBody = {
    message: text[language],
    code,
    ...(errors === undefined ? {} : { errors: errorsIn(errors, language) }),
    request_id: requestId,
  }
  return JSON.stringify({ ...body, data })
}

const errorsIn = (errors: FieldErrors, language: Language): Record<string, string[]> =>
  Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, texts.map((text) => text[language])]))

/** Our responses to Fastify's errors. */
const FASTIFY_ERRORS: Readonly<Record<string, () => HttpError>> = {
  FST_ERR_BAD_URL: notFound,
  FST_ERR_MAX_PARAM_LENGTH: notFound,
  FST_ERR_NOT_FOUND: notFound,
  FST_ERR_CTP_INVALID_JSON_BODY: () => new HttpError(400, 'invalid_json', httpMessages.invalid_json),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new HttpError(413, 'body_too_large', httpMessages.body_too_large),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new HttpError(415, 'unsupported_media_type', httpMessages.not_json),
}

/** The response to an error. Details of server errors are never revealed. */
export function problemOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (
    error instanceof Overloaded ||
    error instanceof PoolExhausted ||
    isOverload(error) ||
    isRefusedConnection(error)
  ) {
    return overloaded()
  }
  const fault = FASTIFY_ERRORS[errorCode(error) ?? '']
  if (fault !== undefined) return fault()
  const status = clientErrorStatus(error)
  if (status !== undefined) return new HttpError(status, codeOf(status), httpMessages.malformed_request)
  if (
    error instanceof Unavailable ||
    error instanceof Closed ||
    error instanceof IndexLagExceeded ||
    isConnectionError(error) ||
    isRecoveryConflict(error)
  ) {
    return unavailable()
  }
  return new HttpError(500, 'internal', httpMessages.internal)
}

export const unavailable = (): HttpError => new HttpError(500, 'unavailable', httpMessages.unavailable)

export const overloaded = (): HttpError =>
  new HttpError(429, 'overloaded', httpMessages.overloaded, {
    headers: { 'retry-after': '1' },
  })

export const rateLimited = (retryAfterSeconds: number): HttpError =>
  new HttpError(429, 'rate_limited', httpMessages.rate_limited, {
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

/** The database refused the connection of these commands because it has too many: none of them was started. */
const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Unavailable && errorCode(error.cause) === '53300'

/** The status of an error that Fastify or a plugin blames on the request. */
function clientErrorStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : undefined
}

const codeOf = (status: number): string => (STATUS_CODES[status] ?? 'bad_request').toLowerCase().replace(/\W+/g, '_')
