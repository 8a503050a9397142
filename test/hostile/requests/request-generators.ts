import * as fc from 'fast-check'
import { isRead, pathOf, type Route } from '../../harness/http/api-routes.ts'
import { type HttpRequest, jsonType } from '../../harness/http/request.ts'
import { mediaTypes } from './hostile-values.ts'
import { foreign, mutated, valid } from './mutated-bodies.ts'
import { nameOf, valueOf } from './values.ts'

type Header = readonly [name: string, value: string]

/** How far a wish goes from what is meant. */
export interface GeneratedRequest {
  readonly request: HttpRequest
  /** Whether it is put together as the documents say; then nothing but the business can be against it. */
  readonly valid: boolean
}

const hostileNames = [
  '0',
  '-1',
  '1.0',
  '01',
  '1e3',
  '9007199254740992',
  '99999999999999999999',
  '%00',
  '%ff',
  '%c0%af',
  '%2e%2e',
  '%2F',
  '%252e',
  '%',
  '..',
  '.',
  '*',
  '~',
  "'",
  '1;2',
  '1,2',
  '1%0d%0aX-Injected:%201',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  'x'.repeat(5_000),
]

const hostileQueries = [
  'limit=0',
  'limit=201',
  'limit=-1',
  'limit=1e2',
  'limit=5&limit=6',
  'limit[]=5',
  'limit[a]=5',
  'limit=%00',
  'limit=%ff',
  'limit=%',
  'cursor=%2e',
  'cursor=AAAA',
  'cursor=MQ',
  'cursor=OTAwNzE5OTI1NDc0MDk5Mg',
  `cursor=${'A'.repeat(201)}`,
  '__proto__[limit]=5&constructor.prototype.limit=5',
  '&&&===',
  '?',
  '#',
  `${'a=1&'.repeat(2_000)}b=2`,
  `x=${'y'.repeat(8_000)}`,
]

const hostileHeaders: readonly (readonly Header[])[] = [
  [['Idempotency-Key', '']],
  [['Idempotency-Key', 'x'.repeat(256)]],
  [['Idempotency-Key', 'caf\u00e9']],
  [['Idempotency-Key', 'a\tb']],
  [
    ['Idempotency-Key', 'one'],
    ['Idempotency-Key', 'two'],
  ],
  [['X-Request-Id', 'mine']],
  [['X-HTTP-Method-Override', 'DELETE']],
  [['X-Forwarded-For', '127.0.0.1']],
  [['X-Forwarded-Host', 'evil.example']],
  [['X-Original-URL', '/admin/v1/users']],
  [['Accept', 'text/html']],
  [['Accept', 'application/xml;q=\u00e9']],
  [['Accept-Encoding', 'gzip, br']],
  [['Content-Encoding', 'gzip']],
  [['Cookie', '__proto__=1']],
  [['Origin', 'null']],
  [['Range', 'bytes=0-0,-1']],
  [['If-None-Match', '*']],
  [['Client-Type', 'android']],
  [['Client-Version', '9'.repeat(1_000)]],
  [['Connection', 'close, authorization']],
  [['__proto__', 'x']],
  [['constructor', 'x']],
  [['X'.repeat(2_000), 'y']],
  Array.from({ length: 100 }, (_, i): Header => [`X-${i}`, 'y']),
]

const known = new WeakMap<Route, fc.Arbitrary<GeneratedRequest>>()

/** Any request to a door: as it is meant, or wrong in one of its parts. `authorization` is put in by whoever sends it. */
export function requestsTo(route: Route): fc.Arbitrary<GeneratedRequest> {
  const wishes = known.get(route) ?? buildArbitrary(route)
  known.set(route, wishes)
  return wishes
}

function buildArbitrary(route: Route): fc.Arbitrary<GeneratedRequest> {
  const goodPath = fc.tuple(paramsOf(route), fc.boolean()).map(([params, other]) => pathOf(route, params, other))
  const goodQuery = queryOf(route)
  const key = fc.option(fc.stringMatching(/^[\x21-\x7e]{1,40}$/), { freq: 3 })
  const goodHeaders = key.map((value): readonly Header[] => [jsonType, ...(value === null ? [] : [header(value)])])
  const goodBody: fc.Arbitrary<Buffer | null> =
    route.body === null ? fc.constant(null) : valid(route.body).map((body) => Buffer.from(body))
  const parts = {
    path: goodPath,
    query: goodQuery,
    headers: goodHeaders,
    body: goodBody,
    method: fc.constant(route.method),
  }
  const made = (valid: boolean, changed: Partial<typeof parts>): fc.Arbitrary<GeneratedRequest> =>
    fc.record({ ...parts, ...changed }).map(({ path, query, ...rest }) => ({
      request: { ...rest, path: query === '' ? path : `${path}?${query}` },
      valid,
    }))

  const good = made(true, {})
  const mutatedBody =
    route.body === null ? [] : [{ weight: 8, arbitrary: made(false, { body: mutatedBodyOf(route.body) }) }]
  const badPaths =
    Object.keys(route.params).length > 0 ? [{ weight: 2, arbitrary: made(false, { path: badPathOf(route) }) }] : []
  return fc.oneof(
    { weight: 8, arbitrary: good },
    ...mutatedBody,
    ...badPaths,
    { weight: isRead(route) ? 1 : 2, arbitrary: made(false, { body: foreign }) },
    { weight: isRead(route) ? 4 : 1, arbitrary: made(false, { query: fc.constantFrom(...hostileQueries) }) },
    {
      weight: 1,
      arbitrary: made(false, { headers: fc.constantFrom(...hostileHeaders).map((more) => [jsonType, ...more]) }),
    },
    { weight: 1, arbitrary: made(false, { headers: mediaType }) },
    {
      weight: 1,
      arbitrary: made(false, { method: fc.constantFrom('PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE') }),
    },
  )
}

const header = (key: string): Header => ['Idempotency-Key', key]

const mediaType = fc.constantFrom(...mediaTypes).map((type): readonly Header[] => [['Content-Type', type]])

const mutatedBodyOf = (schema: NonNullable<Route['body']>): fc.Arbitrary<Buffer> =>
  mutated(schema).map((body) => Buffer.from(body))

/** Names as they may stand in a path. */
export const paramsOf = ({ params }: Route): fc.Arbitrary<Record<string, string>> =>
  fc.record(Object.fromEntries(Object.entries(params).map(([name, schema]) => [name, nameOf(schema).map(inPath)])))

function badPathOf(route: Route): fc.Arbitrary<string> {
  const names = Object.fromEntries(Object.keys(route.params).map((name) => [name, fc.constantFrom(...hostileNames)]))
  return fc.tuple(fc.record(names), fc.boolean()).map(([params, other]) => pathOf(route, params, other))
}

function queryOf({ query }: Route): fc.Arbitrary<string> {
  const pairs = Object.entries(query).map(([name, schema]) =>
    fc.option(valueOf(schema).map((value) => `${name}=${inPath(String(value))}`)),
  )
  return fc.tuple(...pairs).map((given) => given.filter((pair) => pair !== null).join('&'))
}

/** A lone surrogate cannot be written in a path at all. */
const inPath = (text: string): string => encodeURIComponent(text.toWellFormed())
