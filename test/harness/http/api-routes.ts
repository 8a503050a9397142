import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

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
})
const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)) })

/** A route of the running service, as its own documents describe it. */
export interface Route {
  /** `POST /api/v1/instant-send` */
  readonly name: string
  readonly method: string
  /** With names in braces. */
  readonly path: string
  /** Who stands behind it: anybody, users or staff. */
  readonly kind: 'open' | 'client' | 'admin'
  readonly params: Readonly<Record<string, Schema>>
  readonly query: Readonly<Record<string, Schema>>
  readonly body: Schema | null
}

export const reads = ({ method }: Route): boolean => method === 'GET'

/** Every route of the service, so that one that is added later is attacked without anybody thinking of it. */
export async function fetchRoutes(origin: string): Promise<readonly Route[]> {
  const document = Value.Parse(Document, await (await fetch(`${origin}/docs/json`)).json())
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, { security = [], parameters = [], requestBody }]): Route => {
      const method = verb.toUpperCase()
      const schemas = (place: string) =>
        Object.fromEntries(parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, schema]))
      return {
        name: `${method} ${path}`,
        method,
        path,
        kind: asksForNothing(security) ? 'open' : path.startsWith('/admin/') ? 'admin' : 'client',
        params: schemas('path'),
        query: schemas('query'),
        body: harmless(`${method} ${path}`, requestBody?.content['application/json'].schema ?? null),
      }
    }),
  )
}

/** None of several ways to be let in need be one. */
const asksForNothing = (security: readonly object[]): boolean =>
  security.length === 0 || security.some((way) => Object.keys(way).length === 0)

/**
 * What an operator may say that closes all clients' doors: made up by chance it would end every other attack, so that one
 * of them says it on purpose.
 */
const closing: Readonly<Record<string, readonly string[]>> = {
  'PUT /admin/v1/app-mode': ['maintenance', 'block_unidentified'],
}

function harmless(route: string, body: Schema | null): Schema | null {
  const left = closing[route]
  if (left === undefined || body === null) return body
  const properties = Object.entries(body.properties ?? {}).filter(([name]) => !left.includes(name))
  return { ...body, properties: Object.fromEntries(properties) }
}

/** A path with its names replaced, under the prefix that is published or, for clients, under the other one. */
export function pathOf({ path, kind }: Route, params: Readonly<Record<string, string>>, otherPrefix: boolean): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  if (kind === 'admin' || !/^\/(api\/)?v1\//.test(filled) || !otherPrefix) return filled
  return filled.startsWith('/api/') ? filled.slice('/api'.length) : `/api${filled}`
}
