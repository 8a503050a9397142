import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { dereference } from './dereference.ts'

/** The part of JSON Schema that the service's schemas use. */
export const Schema = Type.Recursive((Self) =>
  Type.Object({
    type: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Record(Type.String(), Self)),
    required: Type.Optional(Type.Array(Type.String())),
    items: Type.Optional(Self),
    anyOf: Type.Optional(Type.Array(Self)),
    const: Type.Optional(Type.Unknown()),
    enum: Type.Optional(Type.Array(Type.Unknown())),
    pattern: Type.Optional(Type.String()),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    minLength: Type.Optional(Type.Integer()),
    maxLength: Type.Optional(Type.Integer()),
    minItems: Type.Optional(Type.Integer()),
    maxItems: Type.Optional(Type.Integer()),
    uniqueItems: Type.Optional(Type.Boolean()),
  }),
)
export type Schema = Static<typeof Schema>

const Parameter = Type.Object({ name: Type.String(), in: Type.String(), schema: Schema })
const Operation = Type.Object({
  security: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  parameters: Type.Optional(Type.Array(Parameter)),
  requestBody: Type.Optional(
    Type.Object({ content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }) }),
  ),
  responses: Type.Record(Type.String(), Type.Unknown()),
})
const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)) })

/** A route of the running service, from its OpenAPI document. */
export interface Route {
  /** `POST /api/v1/instant-send` */
  readonly name: string
  readonly method: string
  /** With parameters in braces. */
  readonly path: string
  /** Who may call it: anybody at any time, anybody while clients may run, users, or staff. */
  readonly kind: 'open' | 'public' | 'client' | 'admin'
  readonly params: Readonly<Record<string, Schema>>
  readonly query: Readonly<Record<string, Schema>>
  readonly body: Schema | null
}

export const isRead = ({ method }: Route): boolean => method === 'GET'

/** Every route of the service, so that a new route is attacked without a change here. */
export async function fetchRoutes(origin: string): Promise<readonly Route[]> {
  const document = Value.Parse(Document, dereference(await (await fetch(`${origin}/docs/json`)).json()))
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, { security = [], parameters = [], requestBody, responses }]): Route => {
      const method = verb.toUpperCase()
      const schemasIn = (location: string) =>
        Object.fromEntries(parameters.filter((one) => one.in === location).map(({ name, schema }) => [name, schema]))
      return {
        name: `${method} ${path}`,
        method,
        path,
        kind: kindOf(path, security, '426' in responses),
        params: schemasIn('path'),
        query: schemasIn('query'),
        body: withoutClosingFields(`${method} ${path}`, requestBody?.content['application/json'].schema ?? null),
      }
    }),
  )
}

/** An empty entry among the alternatives makes authentication optional. */
function kindOf(path: string, security: readonly object[], isGated: boolean): Route['kind'] {
  const needsToken = security.length > 0 && security.every((way) => Object.keys(way).length > 0)
  if (!needsToken) return isGated ? 'public' : 'open'
  return path.startsWith('/admin/') ? 'admin' : 'client'
}

/**
 * Fields by which an operator closes all client routes. A random request with them would end every other attack, so they
 * are left out.
 */
const closingFields: Readonly<Record<string, readonly string[]>> = {
  'PUT /admin/v1/app-mode': ['maintenance', 'block_unidentified'],
}

function withoutClosingFields(route: string, body: Schema | null): Schema | null {
  const omitted = closingFields[route]
  if (omitted === undefined || body === null) return body
  const properties = Object.entries(body.properties ?? {}).filter(([name]) => !omitted.includes(name))
  return { ...body, properties: Object.fromEntries(properties) }
}

/** A path with its parameters replaced, with the documented prefix or, for client routes, the other one. */
export function pathOf({ path, kind }: Route, params: Readonly<Record<string, string>>, otherPrefix: boolean): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  if (kind === 'admin' || !/^\/(api\/)?v1\//.test(filled) || !otherPrefix) return filled
  return filled.startsWith('/api/') ? filled.slice('/api'.length) : `/api${filled}`
}
