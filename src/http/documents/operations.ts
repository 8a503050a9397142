import type { FastifySchema, RouteOptions } from 'fastify'
import { clientPrefixes } from '../prefixes.ts'
import { type DocumentSchemas, isJson } from './document-schemas.ts'
import type { Checks } from './error-responses.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** The codes that the route's business rules refuse with, for the documents: those of its verb, or of its reads. */
    refusals?: readonly string[]
    /** Clients may call the route without a token. */
    needsNoToken?: true
  }
}

/** What the document says of an operation beside its schema. */
export interface OperationDetails {
  readonly operationId: string
  /** Null for routes that declare their own security: none of the common checks run before them. */
  readonly checks: Checks | null
  readonly isWrite: boolean
  readonly refusals: readonly string[] | null
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
  const { refusals = null, needsNoToken = false, ...shown } = schema
  const headers = isChecked ? (isWrite ? idempotencyHeader : isClients && positionHeader) : undefined
  const described = {
    operationId: operationId(url, route),
    security: isChecked ? [...(needsNoToken ? [{}] : []), { bearer: [] }] : [],
    ...shown,
    ...(isJson(schema.body) && { body: schemas.convertSchema(schema.body) }),
    ...(isJson(schema.params) && { params: schemas.convertFields(schema.params) }),
    ...(isJson(schema.querystring) && { querystring: schemas.convertFields(schema.querystring) }),
    ...(isJson(schema.response) && { response: schemas.convertFields(schema.response) }),
    ...(headers && { headers }),
  }
  const details = {
    operationId: described.operationId,
    checks: isChecked ? { isClients, takesBody: isWrite, needsToken: !needsNoToken } : null,
    isWrite,
    refusals,
    hasParams: schema.params !== undefined,
    hasInput: isWrite || schema.querystring !== undefined,
  }
  return { schema: described, details }
}

const idempotencyHeader = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      pattern: '^[\\x20-\\x7e]{1,255}$',
      description: 'The same key with the same request returns the first response again and changes nothing',
    },
  },
}

const positionHeader = {
  type: 'object',
  properties: {
    'X-Ledger-Position': {
      type: 'string',
      pattern: '^[0-9]{1,15}$',
      description: 'A position from an earlier response: what is read is not older. A malformed one is ignored',
    },
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
