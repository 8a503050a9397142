import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { environment } from '../../config/environment.ts'
import type { RefusalStatusOf } from '../errors/refusals.ts'
import { completeDocument } from './complete-document.ts'
import { DocumentSchemas } from './document-schemas.ts'
import { describeOperation, type OperationDetails } from './operations.ts'

const tags = [
  { name: 'app status', description: 'Whether the app may run: maintenance, updates' },
  { name: 'users', description: 'Who somebody is, and the countries of agents' },
  { name: 'devices', description: 'Devices that notifications are pushed to' },
  { name: 'notifications', description: 'The inbox of a user' },
  { name: 'wallet', description: 'What a user holds, and what became of it' },
  { name: 'rooms', description: 'Rooms and their members' },
  { name: 'gifts', description: 'The catalogue, the bag, and sending' },
  { name: 'fairness', description: 'Draws that everybody can check' },
  { name: 'roulette', description: 'The games of a room' },
  { name: 'privilege wallet', description: 'Cards of privileges: to activate and to give away' },
  { name: 'agency', description: 'Dollars into diamonds or cash, through agents' },
  { name: 'operators', description: 'What operators set, grant, take and decide' },
  { name: 'finance', description: 'Reports, audits and closings of the ledger' },
  { name: 'service', description: 'Health and metrics' },
]

/** Where the websocket is described, of a service at this address. */
export const socketDocsAt = (publicUrl: string) => ({
  url: `${publicUrl}/docs/sockets`,
  description: 'The websocket interface',
})

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
        description: httpGuide,
      },
      externalDocs: socketDocsAt('http://127.0.0.1:3000'),
      tags,
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

const { RATE_LIMIT, ADDRESS_LIMIT, DAILY_WRITE_BYTES } = environment.properties

/** The defaults of limits, which are numbers as text. */
const count = (text: unknown): string => Number(text).toLocaleString('en-US')
const megabytes = (text: unknown): string => count(Number(text) / 1_000_000)

/** What a client has to know of all operations. */
const httpGuide =
  'Wallets, gifts, lucky draws, roulette and privileges of a live-streaming app. See also: ' +
  '[the websocket](/docs/sockets), [what every code means](/docs/codes), [how draws are made](/docs/fairness).\n\n' +
  '- **Paths.** Every client route answers under /api/v1 and /v1, with and without a slash at its end.\n' +
  '- **Tokens.** A JWT of the login service, as a bearer token: app users have no `role`, staff has `operator` or ' +
  '`finance`. Staff uses /admin/v1 only. Finance reads all there, and writes what belongs to its work: verifications and ' +
  'the closing of a month; each operation that it may call says so, and any other write is 403.\n' +
  '- **Client.** Send `Client-Type` (android, ios or flutter) and `Client-Version` with every request to client routes ' +
  'and with the upgrade of the websocket, as headers or in the query: a version below the minimum of its type is ' +
  'answered with 426. A request without them is judged by what its token last told app-status.\n' +
  '- **Order of checks.** App state (503, 426), token (401, 440, 403), rate limit (429), form of the request (400, ' +
  '413, 415, 422, and 404 for an id that cannot be one), then business rules in the order of the codes that an ' +
  'operation lists for 404, 403, 412, 422 and 428.\n' +
  '- **Errors.** `code` is for programs and stable, `message` is for people, `errors` has sentences by field.\n' +
  `- **Rate limit.** By default a user has ${count(RATE_LIMIT.default)} requests a minute on an instance, and an address ` +
  `without a valid token ${count(ADDRESS_LIMIT.default)}. Some operations count as several requests, as they say; so does a ` +
  'page of more than 50 rows (one for each 50), and a body one more for each 16 KiB. Four requests of a user run at a ' +
  `time, further ones wait. What users store without paying is limited to ${megabytes(DAILY_WRITE_BYTES.default)} MB in a ` +
  'day. Beyond all that: 429, with the seconds to wait in `Retry-After`.\n' +
  '- **Retries.** Every POST, PUT and DELETE takes an `Idempotency-Key`. The same key with the same request answers ' +
  'the first answer again for at least 24 hours and changes nothing; with another request it is 422 ' +
  '`idempotency_key_reused`. Answers of checks (400, 401, 413, 415, 426, 429, 440, 5xx and a wrong form) ' +
  'and of versions (412, 428) are not remembered.\n' +
  '- **Changes by several.** A write that lists 412 takes the ETag of its GET as `If-Match`, and changes nothing if somebody ' +
  'else did since; a PUT with `If-None-Match: *` only creates. One that lists 428 does nothing without it.\n' +
  '- **Fresh reads.** Send the `X-Ledger-Position` and the `X-Ledger` of a write with the next read. It waits a moment until ' +
  'that position is reached; the position of the answer says whether it was. Another `X-Ledger` in an answer says that ' +
  'the ledger went back: what was answered shortly before may be lost, and positions begin again from there.\n' +
  '- **Language.** `lang` (header or query), else `Accept-Language`: `ar` or `en`.\n' +
  '- **Fields.** Unknown ones are ignored; null for an optional one is an absent one.\n' +
  '- **Lists** are newest first and take `limit` and `cursor`; `meta.next_cursor` is null on the last page.'
