import { type TSchema, Type } from '@sinclair/typebox'
import { Maintenance, Update } from '../../../schema/app-status.ts'
import { ErrorBody } from '../../../schema/common.ts'
import { named } from '../../../schema/named.ts'
import { type DocumentSchemas, type Json, pascalCase } from './document-schemas.ts'

/** An error response that many operations share. */
interface SharedResponse {
  readonly status: number
  readonly description: string
  readonly codes: readonly string[]
  readonly headers?: Json
}

const RETRY_AFTER = {
  'Retry-After': { required: true, description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } },
}

const ofTokens = {
  Unauthenticated: {
    status: 401,
    description:
      'No valid token, or (unknown_user) a valid one of a user who was never announced. Clear the token and log in.',
    codes: ['unauthenticated', 'unknown_user'],
    headers: { 'WWW-Authenticate': { description: 'Bearer', schema: { type: 'string' } } },
  },
  SessionExpired: {
    status: 440,
    description: 'The token has expired, or its sessions were ended. Clear the token and log in.',
    codes: ['session_expired'],
  },
} as const satisfies Record<string, SharedResponse>

const always = {
  TooManyRequests: {
    status: 429,
    description:
      'A rate limit or the daily allowance of the user is used up, or the server is overloaded. Nothing was done: send ' +
      'the same request again after the time in Retry-After.',
    codes: ['rate_limited', 'overloaded'],
    headers: RETRY_AFTER,
  },
  ServerError: {
    status: 500,
    description:
      'unavailable: the database is away; try again. Whether a write without an Idempotency-Key happened is not known; ' +
      'with one it is safe to send it again.',
    codes: ['unavailable', 'internal'],
  },
} as const satisfies Record<string, SharedResponse>

const ofBodies = {
  InvalidJson: { status: 400, description: 'The body is not JSON', codes: ['invalid_json', 'bad_request'] },
  BodyTooLarge: {
    status: 413,
    description: 'The body is over 64 KiB, or over 1 MiB under /admin/v1',
    codes: ['body_too_large'],
  },
  UnsupportedMediaType: {
    status: 415,
    description: 'The media type of the body is not JSON',
    codes: ['unsupported_media_type'],
  },
} as const satisfies Record<string, SharedResponse>

const appStates = {
  UpdateRequired: {
    status: 426,
    description: 'A forced update: show its dialog and keep the token. The body is that of app-status',
    schema: Update,
  },
  InMaintenance: {
    status: 503,
    description: 'Maintenance: show its screen, keep the token and poll app-status. The body is that of app-status',
    schema: Maintenance,
  },
} as const

/** The components to which operations refer. */
export const sharedResponses = (schemas: DocumentSchemas): Json => ({
  ...Object.fromEntries(
    Object.entries<SharedResponse>({ ...ofTokens, ...always, ...ofBodies }).map(
      ([name, { description, codes, headers }]) => [
        name,
        {
          description,
          ...(headers !== undefined && { headers }),
          content: errorContent(codes, `${name}_code`, schemas),
        },
      ],
    ),
  ),
  ...Object.fromEntries(
    Object.entries(appStates).map(([name, { description, schema }]) => [
      name,
      { description, content: { 'application/json': { schema: schemas.convertSchema(schema) } } },
    ]),
  ),
})

/** Which checks run before an operation. */
export interface Checks {
  readonly isClients: boolean
  readonly takesBody: boolean
  readonly needsToken: boolean
}

/** References to the responses of the checks, by status. */
export const responsesOfChecks = (checks: Checks): Json =>
  Object.fromEntries(
    Object.entries({ ...responsesBefore(checks), ...(checks.isClients && appStates) }).map(([name, { status }]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
  )

const responsesBefore = ({ takesBody, needsToken }: Checks) => ({
  ...(needsToken && ofTokens),
  ...always,
  ...(takesBody && ofBodies),
})

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  403: 'Not allowed for this caller: see code',
  404: 'Not found; also for a path whose id cannot be one',
  412: 'What is stored is not what If-Match or If-None-Match expects; nothing was changed',
  428: 'The version that was read is required; nothing was done',
  422: 'The request does not match its schema, or a business rule refuses it: see code, and errors by field',
}

/** The error response of an operation with these codes, of which some have `data`. */
export const errorResponse = (
  status: number,
  codes: readonly string[],
  data: TSchema | undefined,
  operationId: string,
  schemas: DocumentSchemas,
): Json => {
  const list = codes.length === 1 ? `${codes[0]}_code` : `${operationId}_${status}_code`
  return { description: DESCRIPTIONS[status] ?? '', content: errorContent(codes, list, schemas, data) }
}

function errorContent(codes: readonly string[], list: string, schemas: DocumentSchemas, data?: TSchema): Json {
  const code = codeList(list, codes)
  const own = Type.Object(data === undefined ? { code } : { code, data: Type.Optional(data) })
  return {
    'application/json': { schema: { allOf: [schemas.convertSchema(ErrorBody), schemas.convertSchema(own)] } },
  }
}

const codeLists = new Map<string, TSchema>()

/** A list with a name, which generated clients call as the document does. Several operations have the same short ones. */
function codeList(words: string, codes: readonly string[]): TSchema {
  const name = pascalCase(words)
  const key = [name, ...codes].join(' ')
  const known = codeLists.get(key)
  if (known !== undefined) return known
  const list = named(name, Type.Unsafe<string>({ type: 'string', enum: codes }))
  codeLists.set(key, list)
  return list
}
