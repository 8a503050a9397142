import * as fc from 'fast-check'
import { type Door, pathOf, reads, type Schema } from '../../harness/http/api-routes.ts'
import { bearer, jsonType, type Wish } from '../../harness/http/request.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import type { Siege } from '../attack-run/attack-run.ts'
import { attackers, type Role, roles, tokenOf, victim } from '../attack-run/roles.ts'
import { paramsOf } from '../requests/request-generators.ts'
import { valueOf } from '../requests/values.ts'

/** Whose ids stand in a request: those of whoever asks, of somebody else, of nobody. */
const ids = [attackers[0], attackers[1], victim.id, 8_999_999_999] as const
/** Requests of each kind. */
const EACH = 3

/** Every route, as every role, with every kind of foreign id in its path and in each field that can hold one. */
export async function matrix(siege: Siege): Promise<void> {
  const cells = siege.doors.flatMap((door, i) =>
    roles.flatMap((role) =>
      ids.flatMap((id) =>
        fc.sample(aimedAt(door, id), { numRuns: EACH, seed: siege.seed + i }).map((wish) => ({ door, role, id, wish })),
      ),
    ),
  )
  await siege.each(siege.some(cells), async ({ door, role, id, wish }, line) => {
    const token = tokenOf(role)
    const sent = token === null ? wish : { ...wish, headers: [bearer(token), ...wish.headers] }
    const why = `${door.name} as ${role} with id ${id}`
    const answer = await siege.ask(line, sent, why)
    if (answer === undefined) return
    const allowed = statusesFor(door, role)
    siege.expect(allowed(answer), why, sent, `was answered ${answer.status}`)
    const tells = role !== 'operator' && role !== 'finance' && answer.text.includes(String(victim.coins))
    siege.expect(!tells, why, sent, 'was told what somebody else holds')
  })
}

type Allows = (answer: Answer) => boolean

/** What a role may be answered at a door, by status and code. */
function statusesFor(door: Door, role: Role): Allows {
  const only =
    (status: number, code: string): Allows =>
    (answer) =>
      answer.status === status && answer.text.includes(`"code":"${code}"`)
  const anything: Allows = ({ status, text }) =>
    status !== 401 && !(status === 403 && text.includes('"code":"forbidden"'))
  if (door.kind === 'open') return ({ status }) => status === 200
  if (role === 'nobody') return only(401, 'unauthenticated')
  const isTheirs = door.kind === 'client' ? role === 'user' : role === 'operator' || (role === 'finance' && reads(door))
  return isTheirs ? anything : only(403, 'forbidden')
}

/** A request as it is meant, but for its ids. */
function aimedAt(door: Door, id: number): fc.Arbitrary<Wish> {
  const body =
    door.body === null ? fc.constant(null) : valueOf(door.body).map((value) => aim(value, door.body ?? {}, id))
  return fc.record({ params: paramsOf(door), body, other: fc.boolean() }).map(({ params, body, other }) => {
    const named = Object.fromEntries(Object.keys(params).map((name) => [name, String(id)]))
    const sent = body === null ? null : Buffer.from(JSON.stringify(body))
    return { method: door.method, path: pathOf(door, named, other), headers: [jsonType], body: sent }
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
