import type { TSchema } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import { clientPrefixes } from '../paths.ts'
import { type DocumentSchemas, isJson } from './document-schemas.ts'
import type { Checks } from './error-responses.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** The codes that the route's business rules refuse with, for the documents: those of its verb, or of its reads. */
    refusals?: readonly string[]
    /** What errors have in `data`, by status: how what was to be changed is now. */
    errorData?: Readonly<Record<number, TSchema>>
    /** Clients may call the route without a token. */
    needsNoToken?: true
  }
}

/** What the document says of an operation besides its schema. */
export interface OperationDetails {
  readonly operationId: string
  /** Null for routes that declare their own security: none of the common checks run before them. */
  readonly checks: Checks | null
  readonly isWrite: boolean
  readonly refusals: readonly string[] | null
  readonly errorData: Readonly<Record<number, TSchema>>
  readonly hasParams: boolean
  readonly hasInput: boolean
}

/** The schema of a route as the document shows it, and what has to be added to it. */
export function describeOperation(
  schema: FastifySchema,
  url: string,
  route: RouteOptions,
  schemas: DocumentSchemas,
): { readonly schema: FastifySchema; readonly details: OperationDetails } {
  const isClients = clientPrefixes.some((prefix) => url.startsWith(`${prefix}/`))
  const isChecked = schema.security === undefined && (isClients || url.startsWith('/admin/v1/'))
  const isWrite = route.method !== 'GET'
  const { refusals = null, errorData = {}, needsNoToken = false, ...shown } = schema
  const answersNotModified = isJson(schema.response) && 304 in schema.response
  const takesVersion = refusals?.includes('precondition_failed') === true
  const headers = {
    ...(isChecked && isWrite && idempotencyHeader),
    ...(isChecked && isClients && !isWrite && positionHeader),
    ...(answersNotModified && etagHeader),
    ...(takesVersion && matchHeader),
    // A POST that takes a version is about what exists.
    ...(takesVersion && route.method !== 'POST' && noneMatchHeader),
  }
  const description = withCost(shown.description, route.config?.cost)
  const described = {
    operationId: operationId(url, route),
    security: isChecked ? [...(needsNoToken ? [{}] : []), { bearer: [] }] : [],
    ...shown,
    ...(isJson(schema.body) && { body: schemas.convertSchema(schema.body) }),
    ...(isJson(schema.params) && { params: schemas.convertFields(schema.params) }),
    ...(isJson(schema.querystring) && { querystring: schemas.convertFields(schema.querystring) }),
    ...(isJson(schema.response) && { response: schemas.convertFields(schema.response) }),
    ...(Object.keys(headers).length > 0 && { headers: { type: 'object', properties: headers } }),
    ...(description !== undefined && { description }),
  }
  const details = {
    operationId: described.operationId,
    checks: isChecked ? { isClients, takesBody: isWrite, needsToken: !needsNoToken } : null,
    isWrite,
    refusals,
    errorData,
    hasParams: schema.params !== undefined,
    hasInput: isWrite || schema.querystring !== undefined,
  }
  return { schema: described, details }
}

/** Adds what a request to the operation costs to its description. */
function withCost(description: string | undefined, cost: number | undefined): string | undefined {
  if (cost === undefined) return description
  const sentence = `Counts as ${cost} requests in the rate limit.`
  return description === undefined ? sentence : `${description} ${sentence}`
}

const idempotencyHeader = {
  'Idempotency-Key': {
    type: 'string',
    pattern: '^[\\x20-\\x7e]{1,255}$',
    description:
      'The same key with the same request returns the first response again and changes nothing. 1 to 255 printable ' +
      'ASCII characters, such as a UUID; one key for one intention of a caller, whatever the operation',
  },
}

const positionHeader = {
  'X-Ledger-Position': {
    type: 'string',
    pattern: '^[0-9]{1,15}$',
    description:
      'A position from an earlier response: what is read is not older, unless that position is not reached in time. The ' +
      'same header of the response says up to where it is. A malformed one is ignored, and so is one of another X-Ledger',
  },
  'X-Ledger': {
    type: 'string',
    pattern: '^[0-9a-f]{32}$',
    description: 'That of the response which the position is from',
  },
}

const etagHeader = {
  'If-None-Match': {
    type: 'string',
    description:
      'The ETag of the response that the client has: if it has not changed, the answer is 304 without a body',
  },
}

const matchHeader = {
  'If-Match': {
    type: 'string',
    pattern: '^"[0-9a-f]{64}"$',
    description: 'The ETag that GET of it answered: what was changed since is not changed again, and the answer is 412',
  },
}

const noneMatchHeader = {
  'If-None-Match': {
    type: 'string',
    enum: ['*'],
    description: 'Creates, and changes nothing that exists: then the answer is 412',
  },
}

/** A name for generated clients: `postInstantSend`. */
function operationId(url: string, { method }: RouteOptions): string {
  const words = url
    .replace(/^\/(api\/)?(v1\/)?/, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return [String(method).toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}
