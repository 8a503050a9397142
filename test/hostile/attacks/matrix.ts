import * as fc from 'fast-check'
import { isRead, pathOf, type Route, type Schema } from '../../harness/http/api-routes.ts'
import { type HttpRequest, jsonType, withToken } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import { valueOf } from '../../harness/http/schema-values.ts'
import type { AttackRun, Probe } from '../attack-run.ts'
import { attackers, type Role, roles, tokenOf, victim } from '../callers.ts'
import { paramsOf } from '../requests.ts'

/** Whose ids stand in a request: the caller's, somebody else's, nobody's. */
const ids = [attackers[0], attackers[1], victim.id, 8_999_999_999] as const
/** Requests of each kind. */
const EACH = 3

/** Every route, as every role, with every kind of foreign id in its path and in each field that can hold one. */
export const matrix = ({ routes, seed }: AttackRun): readonly Probe[] =>
  routes.flatMap((route, i) =>
    roles.flatMap((role) =>
      ids.flatMap((id) =>
        fc.sample(aimedAt(route, id), { numRuns: EACH, seed: seed + i }).map((request): Probe => {
          const mayAnswer = answersFor(route, role)
          const maySeeAll = role === 'operator' || role === 'finance'
          return {
            why: `${route.name} as ${role} with id ${id}`,
            request: withToken(request, tokenOf(role)),
            faultIn(response) {
              if (!mayAnswer(response)) return 'which this role may not get'
              return maySeeAll || !response.text.includes(String(victim.coins)) ? null : 'with what another user holds'
            },
          }
        }),
      ),
    ),
  )

/** What finance may write: none of it moves value. Findings are acknowledged by operators alone. */
const FINANCE_WRITES = /^\/admin\/v1\/(ledger\/(?!.*\/acknowledge$)|jobs\/)/

type Allows = (response: HttpResponse) => boolean

/** Which answers of a route a role may get, by status and code. */
function answersFor(route: Route, role: Role): Allows {
  const only =
    (status: number, code: string): Allows =>
    (response) =>
      response.status === status && response.text.includes(`"code":"${code}"`)
  const anything: Allows = ({ status, text }) =>
    status !== 401 && !(status === 403 && text.includes('"code":"forbidden"'))
  if (route.kind === 'open') return ({ status }) => status === 200
  // Its path may name what does not exist, as the odds of a hash.
  if (route.kind === 'public') return ({ status }) => status === 200 || (route.path.includes('{') && status === 404)
  if (role === 'nobody') return only(401, 'unauthenticated')
  const isTheirs =
    route.kind === 'client'
      ? role === 'user'
      : role === 'operator' || (role === 'finance' && (isRead(route) || FINANCE_WRITES.test(route.path)))
  return isTheirs ? anything : only(403, 'forbidden')
}

/** A request as it is meant, but for its ids. */
function aimedAt(route: Route, id: number): fc.Arbitrary<HttpRequest> {
  const body =
    route.body === null ? fc.constant(null) : valueOf(route.body).map((value) => aim(value, route.body ?? {}, id))
  return fc.record({ params: paramsOf(route), body, other: fc.boolean() }).map(({ params, body, other }) => {
    const named = Object.fromEntries(Object.keys(params).map((name) => [name, String(id)]))
    const sent = body === null ? null : Buffer.from(JSON.stringify(body))
    return { method: route.method, path: pathOf(route, named, other), headers: [jsonType], body: sent }
  })
}

/** Puts an id wherever a schema takes any. */
function aim(value: unknown, schema: Schema, id: number): unknown {
  const isId = ({ type, minimum, maximum }: Schema): boolean =>
    type === 'integer' && minimum === 1 && maximum === Number.MAX_SAFE_INTEGER
  if (isId(schema) || (typeof value === 'number' && schema.anyOf?.some(isId) === true)) return id
  if (Array.isArray(value)) return value.length === 0 ? value : [aim(value[0], schema.items ?? {}, id)]
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, aim(inner, schema.properties?.[name] ?? {}, id)]),
  )
}
