import * as fc from 'fast-check'
import { isRead, pathOf, type Route, type Schema } from '../harness/http/api-routes.ts'
import { bodyWith, branchesOf, fieldsIn } from '../harness/http/body-fields.ts'
import { type HttpRequest, jsonType } from '../harness/http/request.ts'
import { someId, valueOf } from '../harness/http/schema-values.ts'
import { attackers } from './callers.ts'
import {
  hostileHeaders,
  hostileNames,
  hostileQueries,
  hostileValues,
  ignoredValues,
  mediaTypes,
  rawBodies,
  SECRET_CANARY,
  unknownNames,
} from './hostile-values.ts'
import { idPlaceholder } from './id-pool.ts'

export interface GeneratedRequest {
  /** Without a token. */
  readonly request: HttpRequest
  /** The user who sends it to a client route. */
  readonly caller: number
  /** Whether it is put together as the document says; then only the business can be against it. */
  readonly isValid: boolean
}

/** A body for the user who sends it. */
type Body = (caller: number) => Buffer | null

const jsonBody =
  (value: unknown): Body =>
  () =>
    Buffer.from(JSON.stringify(value))

const generators = new WeakMap<Route, fc.Arbitrary<GeneratedRequest>>()

/** Any request to a route: as it is meant, or wrong in one of its parts. */
export function requestsTo(route: Route): fc.Arbitrary<GeneratedRequest> {
  const generator = generators.get(route) ?? generatorFor(route)
  generators.set(route, generator)
  return generator
}

function generatorFor(route: Route): fc.Arbitrary<GeneratedRequest> {
  const key = fc.option(fc.stringMatching(/^[\x21-\x7e]{1,40}$/), { freq: 3 })
  const parts = {
    method: fc.constant(route.method),
    path: fc.tuple(paramsOf(route), fc.boolean()).map(([params, other]) => pathOf(route, params, other)),
    query: queryOf(route),
    headers: key.map((value): HttpRequest['headers'] => (value === null ? [] : [['Idempotency-Key', value]])),
    type: fc.constant<string>(jsonType[1]),
    body: route.body === null ? fc.constant<Body>(() => null) : valueOf(route.body).map(jsonBody),
    caller: fc.constantFrom(...attackers),
  }
  const requests = (isValid: boolean, changed: Partial<typeof parts>): fc.Arbitrary<GeneratedRequest> =>
    fc.record({ ...parts, ...changed }).map(({ method, path, query, type, headers, body, caller }) => ({
      request: {
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: [['Content-Type', type], ...headers],
        body: body(caller),
      },
      caller,
      isValid,
    }))
  const one = (values: readonly string[]) => fc.constantFrom(...values)
  const foreign = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...rawBodies) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((body) => Buffer.from(body)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  )
  const isNamed = Object.keys(route.params).length > 0
  const methods = ['PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']
  return fc.oneof(
    { weight: 8, arbitrary: requests(true, {}) },
    ...(route.body === null ? [] : [{ weight: 12, arbitrary: requests(false, { body: wrongBody(route.body) }) }]),
    ...(isNamed ? [{ weight: 2, arbitrary: requests(false, { path: wrongPath(route) }) }] : []),
    { weight: isRead(route) ? 1 : 2, arbitrary: requests(false, { body: foreign.map((bytes) => () => bytes) }) },
    { weight: isRead(route) ? 4 : 1, arbitrary: requests(false, { query: one(hostileQueries) }) },
    { weight: 1, arbitrary: requests(false, { headers: fc.constantFrom(...hostileHeaders) }) },
    { weight: 1, arbitrary: requests(false, { type: one(mediaTypes) }) },
    { weight: 1, arbitrary: requests(false, { method: one(methods) }) },
  )
}

/** Names as they may stand in a path: of something that exists, mostly. */
export const paramsOf = ({ params }: Route): fc.Arbitrary<Record<string, string>> =>
  fc.record(Object.fromEntries(Object.entries(params).map(([name, schema]) => [name, nameOf(schema).map(inPath)])))

const nameOf = (schema: Schema): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: someId.map(String) },
    { weight: 4, arbitrary: fc.nat(1_000).map(idPlaceholder) },
    { weight: 3, arbitrary: fc.constantFrom('R1', 'amina', 'a'.repeat(64), '0'.repeat(64)) },
    {
      weight: schema.anyOf === undefined && schema.enum === undefined ? 1 : 20,
      arbitrary: valueOf(schema).map(String),
    },
  )

function wrongPath(route: Route): fc.Arbitrary<string> {
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

/** A field of a branch of a body, and the values that it is given. */
interface Bend {
  readonly branch: Schema
  readonly path: readonly string[]
  readonly values: readonly string[]
}

/** Every field of every branch of a body, those of other branches, and unknown ones. */
function bendsOf(schema: Schema): readonly Bend[] {
  const branches = branchesOf(schema)
  const names = [...new Set([...branches.flatMap(({ properties = {} }) => Object.keys(properties)), ...unknownNames])]
  return branches.flatMap((branch) => {
    const known = new Map([...fieldsIn(branch)].map(({ path }) => [path.join('.'), path]))
    const unknown = names.filter((name) => !known.has(name))
    return [
      ...[...known.values()].map((path): Bend => ({ branch, path, values: hostileValues })),
      ...unknown.map((name): Bend => ({ branch, path: [name], values: ignoredValues })),
    ]
  })
}

/** A body that mostly gets past the rules but for one field: bent, missing, or there twice. */
function wrongBody(schema: Schema): fc.Arbitrary<Body> {
  const bends = fc.constantFrom(...bendsOf(schema))
  return fc.tuple(bends, fc.nat(), fc.nat(1_000_000)).chain(([{ branch, path, values }, n, serial]) =>
    valueOf(branch).map((value) => (caller) => {
      const body = likely(value, caller, serial)
      const json = values[n % values.length] ?? 'null'
      const [name = ''] = path
      const others = Object.fromEntries(Object.entries(Object(body)).filter(([other]) => other !== name))
      if (n % 16 === 0) return Buffer.from(JSON.stringify(others))
      // Twice the same key: the last one counts for us, the first one for some who stand in between.
      if (n % 16 === 1) return Buffer.from(`{${JSON.stringify(name)}:${json},${JSON.stringify(body).slice(1)}`)
      return Buffer.from(bodyWith(body, branch, path, json))
    }),
  )
}

/** Values that mostly get past the rules: small amounts, and people and things that exist. By the field's name. */
const likelyValues: Readonly<Record<string, (serial: number, caller: number) => unknown>> = {
  ...Object.fromEntries(
    ['amount_in_dollars', 'dollars', 'agent_dollars', 'amount', 'quantity', 'privilege_package_id', 'game_price'].map(
      (name) => [name, () => 1],
    ),
  ),
  ...Object.fromEntries(
    ['user_notice', 'bank_name', 'account_name', 'account_number'].map((name) => [name, () => SECRET_CANARY]),
  ),
  u_id: (_, caller) => caller,
  decoration_id: (serial) => 1 + (serial % 3),
  room_id: () => 'R1',
  country_id: (serial) => 1 + (serial % 8),
  target_user_id: () => 5,
  business_manager_id: () => 5,
  beneficiary_user_id: () => 6,
  receiver_id: () => 6,
  owner_id: () => 6,
  max_players: () => 2,
  period: (serial) => `p${serial}`,
  client_seed: (serial) => `s${serial}`,
  uid: (serial) => `u-${serial}`,
}

function likely(value: unknown, caller: number, serial: number): unknown {
  if (Array.isArray(value)) return value.map((item) => likely(item, caller, serial))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const known = Object.hasOwn(likelyValues, name) ? likelyValues[name] : undefined
      if (known !== undefined) return [name, known(serial, caller)]
      if (name === 'user_id') return [name, Array.isArray(inner) ? [6] : 6]
      return [name, likely(inner, caller, serial)]
    }),
  )
}
