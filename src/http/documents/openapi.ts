import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { RefusalStatusOf } from '../errors/refusals.ts'
import { completeDocument } from './complete-document.ts'
import { DocumentSchemas } from './document-schemas.ts'
import { httpGuide } from './http-guide.ts'
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
