import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { Maintenance, Update } from '../../../schema/app-status.ts'
import { ErrorBody } from '../../../schema/common.ts'
import { clientPrefixes } from '../prefixes.ts'

/** Collects routes for the OpenAPI document. Must be called before routes are added. */
export async function describeRoutes(app: FastifyInstance): Promise<void> {
  app.addSchema({ ...ErrorBody, $id: 'Error' })
  app.addSchema({ ...Maintenance, $id: 'Maintenance' })
  app.addSchema({ ...Update, $id: 'Update' })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Live economy',
        version: '1.0.0',
        description:
          'Wallets, gifts, lucky draws, roulette and privileges of a live-streaming app. Every client route answers ' +
          'under /api/v1 and /v1, with and without a slash at its end.',
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `def-${i}`),
    },
    transform: ({ schema, url, route }) => ({ url, schema: describeSchema(schema ?? {}, url, route) }),
  })
}

/** Keeps the routes of a scope out of the document: it lists them under another prefix. */
export function hideRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    route.schema = { ...route.schema, hide: true }
  })
}

/** Adds what all routes of a kind have in common. */
function describeSchema(schema: FastifySchema, url: string, route: RouteOptions): FastifySchema {
  const isClients = clientPrefixes.some((prefix) => url.startsWith(`${prefix}/`))
  const response = isClients ? withPosition(schema.response) : schema.response
  const named = { operationId: operationId(url, route), ...schema, ...(isObject(response) && { response }) }
  // A route that declares its own security has none of the common checks.
  const isChecked = schema.security === undefined && (isClients || url.startsWith('/admin/v1/'))
  if (!isChecked) return { security: [], ...named }
  const writes = route.method !== 'GET'
  return {
    ...named,
    security: [{ bearer: [] }],
    ...(writes ? { headers: idempotencyHeader } : isClients && { headers: positionHeader }),
    response: {
      ...errors(writes ? { ...anyErrors, ...bodyErrors } : anyErrors),
      ...(isClients && closedStates),
      ...(isObject(response) && response),
    },
  }
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

const positionOfResponse = {
  'X-Ledger-Position': {
    type: 'string',
    pattern: '^[0-9]{1,15}$',
    description:
      'The response takes into account every event of the ledger up to this position. A replayed response ' +
      '(Idempotency-Replayed) is as it was; its position is that of the replay',
  },
}

const isObject = (value: unknown): value is Readonly<Record<string, object>> =>
  typeof value === 'object' && value !== null

/** Adds the header to successful responses; the others have it, too, but share their description with all routes. */
function withPosition(responses: unknown): unknown {
  if (!isObject(responses)) return responses
  const withHeader = Object.entries(responses).map(([status, response]): [string, object] => [
    status,
    Number(status) < 400 ? { ...response, headers: positionOfResponse } : response,
  ])
  return Object.fromEntries(withHeader)
}

const anyErrors = {
  401: 'Missing or invalid token',
  403: 'Not allowed for this caller',
  404: 'Not found',
  422: 'The request does not match its schema, or a business rule refuses it: see code and errors',
  429: 'rate_limited or overloaded: retry after Retry-After seconds',
  440: 'The session has expired',
  500: 'Server error; with an Idempotency-Key it is safe to retry',
}

const bodyErrors = {
  400: 'The body is not JSON',
  413: 'The body is too large',
  415: 'The media type of the body is not JSON',
}

const errors = (descriptions: Readonly<Record<string, string>>): Record<string, object> =>
  Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { $ref: 'Error#', description }]),
  )

const closedStates = {
  426: { $ref: 'Update#', description: 'A forced update; the body is that of app-status' },
  503: { $ref: 'Maintenance#', description: 'Maintenance; the body is that of app-status' },
}

/** A name for generated clients: `postInstantSend`. */
function operationId(url: string, { method }: RouteOptions): string {
  const words = url
    .replace(/^\/(api\/)?(v1\/)?/, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return [String(method).toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}
