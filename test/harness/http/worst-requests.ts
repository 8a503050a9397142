import { pathOf, type Route, type Schema } from './api-routes.ts'
import { type HttpRequest, jsonType } from './request.ts'

/** The body limits of routes. */
const MAX_BODY_BYTES = { open: 65_536, public: 65_536, client: 65_536, admin: 1_048_576 } as const
/** Node refuses more than 16 KiB of request line and headers together. */
const MAX_QUERY_BYTES = 14_000
/** Nested fields deeper than this are not filled one by one. */
const MAX_DEPTH = 4

/** Makes a JSON text of about so many bytes. */
type Fill = (bytes: number) => string

const repeated = (item: string, bytes: number): string =>
  Array.from({ length: Math.max(1, Math.floor(bytes / (item.length + 1))) }, () => item).join(',')

/** Numbered items that all differ, as many as fit. */
function numbered(item: (n: number) => string, bytes: number): string {
  const items: string[] = []
  for (let left = bytes, n = 0; ; n += 1) {
    const next = item(n)
    left -= next.length + 1
    if (left < 0) return items.join(',')
    items.push(next)
  }
}

const nested = (open: string, close: string, bytes: number): string => {
  const depth = Math.floor(bytes / (open.length + close.length))
  return `${open.repeat(depth)}${close.repeat(depth)}`
}

/** Values that take a validator longest where it expects another type. */
const anything: Readonly<Record<string, Fill>> = {
  'empty objects': (bytes) => `[${repeated('{}', bytes)}]`,
  'unknown fields': (bytes) => `{${numbered((n) => `"k${n.toString(36)}":0`, bytes)}}`,
  'nested arrays': (bytes) => nested('[', ']', bytes),
  'a long text': (bytes) => `"${'x'.repeat(bytes)}"`,
  'a long number': (bytes) => '1'.repeat(bytes),
}

const lists: Readonly<Record<string, Fill>> = {
  ...anything,
  zeros: (bytes) => `[${repeated('0', bytes)}]`,
  nulls: (bytes) => `[${repeated('null', bytes)}]`,
  'empty arrays': (bytes) => `[${repeated('[]', bytes)}]`,
  'objects that differ': (bytes) => `[${numbered((n) => `{"a":${n}}`, bytes)}]`,
  'numbers that differ': (bytes) => `[${numbered(String, bytes)}]`,
  'texts that differ': (bytes) => `[${numbered((n) => `"${n}"`, bytes)}]`,
}

const texts: Readonly<Record<string, Fill>> = {
  ...anything,
  'combining marks': (bytes) => `"a${'\u0300\u0327'.repeat(Math.floor(bytes / 4))}"`,
  'decomposed letters': (bytes) => `"${'e\u0301'.repeat(Math.floor(bytes / 3))}"`,
  escapes: (bytes) => `"${'\\u0061'.repeat(Math.floor(bytes / 6))}"`,
  emoji: (bytes) => `"${'😀'.repeat(Math.floor(bytes / 4))}"`,
}

const roots: Readonly<Record<string, Fill>> = {
  ...lists,
  'nested objects': (bytes) => `${'{"a":'.repeat(Math.floor(bytes / 6))}1${'}'.repeat(Math.floor(bytes / 6))}`,
  'prototype fields': (bytes) => `{${repeated('"__proto__":{}', bytes)}}`,
  'blanks around it': (bytes) => `${' '.repeat(Math.floor(bytes / 2))}{}${' '.repeat(Math.floor(bytes / 2))}`,
}

/** A field of a body: the text before and after it, and its schema. */
interface FieldSite {
  readonly name: string
  readonly before: string
  readonly after: string
  readonly schema: Schema
}

export interface WorstBody {
  readonly name: string
  readonly body: Buffer
}

/** The costliest bodies for a route with this schema, within so many bytes. A generator, as they are large. */
export function* worstBodies(schema: Schema, maxBytes: number): Generator<WorstBody> {
  for (const [name, fill] of Object.entries(roots)) yield worstBody(`${name} instead of a body`, fill(maxBytes - 16))
  const branches = branchesOf(schema)
  yield* pairsOfLists(branches, maxBytes)
  for (const branch of branches) yield* bodiesByField(branch, maxBytes)
}

function* bodiesByField(schema: Schema, maxBytes: number): Generator<WorstBody> {
  const sites = [...sitesIn(schema, { name: '', before: '', after: '', schema }, 0)]
  for (const { name, before, after, schema } of sites) {
    const room = maxBytes - Buffer.byteLength(before) - Buffer.byteLength(after) - 16
    const fills = schema.type === 'array' ? lists : schema.type === 'string' ? texts : anything
    for (const [what, fill] of Object.entries(fills))
      yield worstBody(`${what} as ${name}`, `${before}${fill(room)}${after}`)
    if (schema.type === 'array') {
      const item = JSON.stringify(smallest(schema.items ?? {}))
      yield worstBody(`valid items as ${name}`, `${before}[${repeated(item, room)}]${after}`)
    }
  }
}

/** Bodies with two long lists, also of two union branches, for checks that compare pairs of errors. */
function* pairsOfLists(branches: readonly Schema[], maxBytes: number): Generator<WorstBody> {
  const smallestFields = Object.assign({}, ...branches.map((branch) => object(smallest(branch))))
  const properties = branches.flatMap((branch) => Object.entries(branch.properties ?? {}))
  const names = new Set(properties.filter(([, inner]) => branchesOf(inner).some(isArray)).map(([name]) => name))
  for (const one of names) {
    for (const other of names) {
      if (one >= other) continue
      const others = Object.entries(smallestFields).filter(([name]) => name !== one && name !== other)
      const head = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`).join('')
      for (const item of ['{}', '0']) {
        const list = `[${repeated(item, (maxBytes - head.length - one.length - other.length - 64) / 2)}]`
        yield worstBody(`${item} as ${one} and as ${other}`, `{${head}"${one}":${list},"${other}":${list}}`)
      }
    }
  }
}

const isArray = ({ type }: Schema): boolean => type === 'array'

const worstBody = (name: string, text: string): WorstBody => ({ name, body: Buffer.from(text) })

/** Every field at any depth, in an otherwise smallest possible body. */
function* sitesIn(schema: Schema, around: FieldSite, depth: number): Generator<FieldSite> {
  if (depth > MAX_DEPTH) return
  const smallestFields = object(smallest(schema))
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const others = Object.entries(smallestFields)
      .filter(([other]) => other !== name)
      .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)},`)
    const before = `${around.before}{${others.join('')}${JSON.stringify(name)}:`
    const site = { name: `${around.name}${name}`, before, after: `}${around.after}`, schema: inner }
    for (const branch of branchesOf(inner)) {
      yield { ...site, schema: branch }
      const within = { ...site, name: `${site.name}.` }
      if (branch.type === 'object') yield* sitesIn(branch, within, depth + 1)
      if (branch.type !== 'array' || branch.items?.type !== 'object') continue
      yield* sitesIn(branch.items, { ...within, before: `${before}[`, after: `]${site.after}` }, depth + 1)
    }
  }
}

/** One branch of a union for each type, and all object branches: filling two strings or constants is no use. */
function branchesOf(schema: Schema): readonly Schema[] {
  if (schema.anyOf === undefined) return [schema]
  const branches = schema.anyOf.flatMap(branchesOf)
  return branches.filter((branch, i) => {
    if (branch.type === 'object') return true
    return branches.findIndex(({ type }) => type === branch.type) === i
  })
}

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** The smallest value of a schema; only the most frequent patterns are met. */
export function smallest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.anyOf ?? []
  if (first !== undefined) return smallest(first)
  const { properties = {}, required = [], items = {}, minItems = 0, minimum = 0, minLength = 0, pattern } = schema
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name))
          .map(([name, inner]) => [name, smallest(inner)]),
      )
    case 'array':
      return Array.from({ length: minItems }, () => smallest(items))
    case 'string':
      return pattern?.includes('{64}') === true
        ? 'a'.repeat(64)
        : pattern?.startsWith('^[0-9]+') === true
          ? '1'
          : 'a'.repeat(Math.max(1, minLength))
    case 'integer':
    case 'number':
      return minimum
    case 'null':
      return null
    default:
      return true
  }
}

/** Queries that fill the request line. */
export const worstQueries: Readonly<Record<string, (name: string) => string>> = {
  'many query fields': () => numbered((n) => `k${n.toString(36)}=1`, MAX_QUERY_BYTES).replaceAll(',', '&'),
  'one query field many times': (name) => repeated(`${name}=1`, MAX_QUERY_BYTES).replaceAll(',', '&'),
  'a long query value': (name) => `${name}=${'1'.repeat(MAX_QUERY_BYTES)}`,
}

/** A route's costliest requests, without a token, each with what makes it costly. */
export function* worstRequests(route: Route): Generator<{ readonly name: string; readonly request: HttpRequest }> {
  const params = Object.fromEntries(Object.keys(route.params).map((name) => [name, '1']))
  const path = pathOf(route, params, false)
  const request: HttpRequest = { method: route.method, path, headers: [jsonType], body: null }
  yield { name: 'a valid request', request: { ...request, body: smallestBody(route) } }
  const [query = 'limit'] = Object.keys(route.query)
  for (const [name, fill] of Object.entries(worstQueries))
    yield { name, request: { ...request, path: `${path}?${fill(query)}` } }
  if ('limit' in route.query) yield { name: 'the longest page', request: { ...request, path: `${path}?limit=200` } }
  // Routes without a body parse the one they get, too.
  for (const { name, body } of worstBodies(route.body ?? {}, MAX_BODY_BYTES[route.kind])) {
    if (route.method !== 'GET') yield { name, request: { ...request, body } }
  }
}

const smallestBody = ({ body }: Route): Buffer | null =>
  body === null ? null : Buffer.from(JSON.stringify(smallest(body)))
