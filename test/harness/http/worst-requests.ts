import { pathOf, type Route, type Schema } from './api-routes.ts'
import { bodyWith, branchesOf, fieldsIn, smallest } from './body-fields.ts'
import { type HttpRequest, jsonType } from './request.ts'

/** The body limits of routes. */
const MAX_BODY_BYTES = { open: 65_536, public: 65_536, client: 65_536, admin: 1_048_576 } as const
/** Node refuses more than 16 KiB of request line and headers together. */
const MAX_QUERY_BYTES = 14_000

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

interface WorstBody {
  readonly name: string
  readonly body: Buffer
}

const worstBody = (name: string, text: string): WorstBody => ({ name, body: Buffer.from(text) })

/** The costliest bodies for a route with this schema, within so many bytes. A generator, as they are large. */
export function* worstBodies(schema: Schema, maxBytes: number): Generator<WorstBody> {
  for (const [name, fill] of Object.entries(roots)) yield worstBody(`${name} instead of a body`, fill(maxBytes - 16))
  const branches = branchesOf(schema)
  yield* pairsOfLists(branches, maxBytes)
  for (const branch of branches) yield* bodiesByField(branch, maxBytes)
}

function* bodiesByField(branch: Schema, maxBytes: number): Generator<WorstBody> {
  const base = smallest(branch)
  for (const { path, schema } of fieldsIn(branch)) {
    const name = path.filter((step) => step !== '0').join('.')
    const room = maxBytes - Buffer.byteLength(bodyWith(base, branch, path, '')) - 16
    const fills = schema.type === 'array' ? lists : schema.type === 'string' ? texts : anything
    for (const [what, fill] of Object.entries(fills))
      yield worstBody(`${what} as ${name}`, bodyWith(base, branch, path, fill(room)))
    if (schema.type !== 'array') continue
    const items = repeated(JSON.stringify(smallest(schema.items ?? {})), room)
    yield worstBody(`valid items as ${name}`, bodyWith(base, branch, path, `[${items}]`))
  }
}

/** Bodies with two long lists, also of two union branches, for checks that compare pairs of errors. */
function* pairsOfLists(branches: readonly Schema[], maxBytes: number): Generator<WorstBody> {
  const base = Object.assign({}, ...branches.map((branch) => Object(smallest(branch))))
  const lists = branches
    .flatMap((branch) => Object.entries(branch.properties ?? {}))
    .filter(([, inner]) => branchesOf(inner).some(({ type }) => type === 'array'))
  const names = [...new Set(lists.map(([name]) => name))].toSorted()
  for (const [i, one] of names.entries()) {
    for (const other of names.slice(i + 1)) {
      const head = JSON.stringify({ ...base, [one]: 0, [other]: 0 })
      for (const item of ['{}', '0']) {
        const list = `[${repeated(item, (maxBytes - head.length - 64) / 2)}]`
        const first = bodyWith({ ...base, [other]: [] }, {}, [one], list)
        yield worstBody(
          `${item} as ${one} and as ${other}`,
          first.replace(`"${other}":[]`, () => `"${other}":${list}`),
        )
      }
    }
  }
}

/** Queries that fill the request line. */
const worstQueries: Readonly<Record<string, (name: string) => string>> = {
  'many query fields': () => numbered((n) => `k${n.toString(36)}=1`, MAX_QUERY_BYTES).replaceAll(',', '&'),
  'one query field many times': (name) => repeated(`${name}=1`, MAX_QUERY_BYTES).replaceAll(',', '&'),
  'a long query value': (name) => `${name}=${'1'.repeat(MAX_QUERY_BYTES)}`,
}

/** A route's costliest requests, without a token, each with what makes it costly. */
export function* worstRequests(route: Route): Generator<{ readonly name: string; readonly request: HttpRequest }> {
  const params = Object.fromEntries(Object.keys(route.params).map((name) => [name, '1']))
  const path = pathOf(route, params, false)
  const request: HttpRequest = { method: route.method, path, headers: [jsonType], body: null }
  const body = route.body === null ? null : Buffer.from(JSON.stringify(smallest(route.body)))
  yield { name: 'a valid request', request: { ...request, body } }
  const [query = 'limit'] = Object.keys(route.query)
  for (const [name, fill] of Object.entries(worstQueries))
    yield { name, request: { ...request, path: `${path}?${fill(query)}` } }
  if ('limit' in route.query) yield { name: 'the longest page', request: { ...request, path: `${path}?limit=200` } }
  if (route.method === 'GET') return
  // Routes without a body parse the one they get, too.
  for (const { name, body } of worstBodies(route.body ?? {}, MAX_BODY_BYTES[route.kind]))
    yield { name, request: { ...request, body } }
}
