import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { RefusalStatusOf } from '../errors/refusals.ts'
import { completeDocument } from './complete-document.ts'
import { DocumentSchemas } from './document-schemas.ts'
import { describeOperation, type OperationDetails } from './operations.ts'

/** Stands for `$ref`, which the plugin would resolve itself. */
const REFERENCE = 'x-reference'

/** Collects routes for the OpenAPI document. Must be called before routes are added. */
export async function describeRoutes(app: FastifyInstance, statusOf: RefusalStatusOf): Promise<void> {
  const schemas = new DocumentSchemas(REFERENCE, '')
  const details = new Map<string, OperationDetails>()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Live economy',
        version: '1.0.0',
        description:
          'Wallets, gifts, lucky draws, roulette and privileges of a live-streaming app.\n\n' +
          '- **Paths.** Every client route answers under /api/v1 and /v1, with and without a slash at its end.\n' +
          '- **Tokens.** A JWT of the login service, as a bearer token: app users have no `role`, staff has `operator` or ' +
          '`finance`. Staff uses /admin/v1 only; finance may only read there.\n' +
          '- **Order of checks.** App state (503, 426), token (401, 440, 403), rate limit (429), form of the request (400, ' +
          '413, 415, 422, and 404 for an id that cannot be one), then business rules in the order of the codes that an ' +
          'operation lists for 404, 403 and 422.\n' +
          '- **Errors.** `code` is for programs and stable, `message` is for people, `errors` has sentences by field.\n' +
          '- **Retries.** Every POST, PUT and DELETE takes an `Idempotency-Key`. The same key with the same request answers ' +
          'the first answer again for at least 24 hours and changes nothing; with another request it is 422 ' +
          '`idempotency_key_reused`. Answers of checks (400, 401, 413, 415, 426, 429, 440, 5xx and a wrong form) are not ' +
          'remembered.\n' +
          '- **Fresh reads.** Send the `X-Ledger-Position` of a write with the next read: it is not older.\n' +
          '- **Language.** `lang` (header or query), else `Accept-Language`: `ar` or `en`.\n' +
          '- **Fields.** Unknown ones are ignored; null for an optional one is an absent one.\n' +
          '- **Lists** are newest first and take `limit` and `cursor`; `meta.next_cursor` is null on the last page.',
      },
      externalDocs: { url: '/docs/sockets', description: 'The websocket interface' },
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const described = describeOperation(schema ?? {}, url, route, schemas)
      details.set(described.details.operationId, described.details)
      return { url, schema: described.schema }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return {}
      const { openapiObject } = document
      completeDocument(openapiObject, { schemas, details, statusOf })
      resolveReferences(openapiObject)
      return openapiObject
    },
  })
}

/** Keeps the routes of a scope out of the document: it lists them under another prefix. */
export function hideRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    route.schema = { ...route.schema, hide: true }
  })
}

function resolveReferences(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const name: unknown = Reflect.get(value, REFERENCE)
  if (typeof name === 'string') {
    Reflect.deleteProperty(value, REFERENCE)
    Reflect.set(value, '$ref', `#/components/schemas/${name}`)
  }
  for (const inner of Object.values(value)) resolveReferences(inner)
}
