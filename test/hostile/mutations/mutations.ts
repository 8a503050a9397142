import * as fc from 'fast-check'
import type { Schema } from '../../harness/http/api-routes.ts'
import { SECRET_CANARY } from '../attack-run/canaries.ts'
import { valueOf } from '../requests/values.ts'
import { type HostileField, hostileFields, ignoredFields } from './hostile-fields.ts'

/** A field of a body, and what it is bent to. */
export interface Mutation {
  /** One of the schema's branches, where it is a union. */
  readonly branch: Schema
  /** Names on the way to it; 0 for the first item of a list. */
  readonly path: readonly string[]
  readonly field: HostileField
  /** Whether the branch has no such field: it is to be ignored. */
  readonly isUnknown: boolean
}

/** Names that no route takes in its body, some of which it would be bad to take. */
const unknownNames = ['unknown', 'id', 'status', 'role', 'actor', 'balance', 'created_at', 'sealed', '__proto__']
const MAX_DEPTH = 3

/** Every field of every branch with every hostile value, fields of the other branches and unknown ones too. */
export function mutationsOf(schema: Schema): readonly Mutation[] {
  const branches = schema.anyOf ?? [schema]
  const all = [...new Set([...branches.flatMap(({ properties = {} }) => Object.keys(properties)), ...unknownNames])]
  return branches.flatMap((branch) => {
    const known = pathsIn(branch, 0).flatMap((path) =>
      hostileFields.map((field): Mutation => ({ branch, path, field, isUnknown: false })),
    )
    const unknown = all.filter((name) => branch.properties?.[name] === undefined)
    return [
      ...known,
      ...unknown.flatMap((name) =>
        ignoredFields.map((field): Mutation => ({ branch, path: [name], field, isUnknown: true })),
      ),
    ]
  })
}

function pathsIn({ properties = {} }: Schema, depth: number): readonly (readonly string[])[] {
  if (depth === MAX_DEPTH) return []
  return Object.entries(properties).flatMap(([name, inner]) => {
    const item = inner.items
    const within =
      inner.type === 'object' ? pathsIn(inner, depth + 1) : item === undefined ? [] : pathsIn(item, depth + 1)
    const step = item === undefined ? [name] : [name, '0']
    return [[name], ...within.map((path) => [...step, ...path])]
  })
}

const MARK = 'here-it-is-bent'

/** A body as it is meant, but for one field. `n` makes what must be unique so. */
export function mutatedBody({ branch, path, field }: Mutation, caller: number, n: number): Buffer {
  const [sample] = fc.sample(valueOf(branch), { numRuns: 1, seed: n })
  const body = put(likely(sample, caller, n), path)
  return Buffer.from(JSON.stringify(body).replace(`"${MARK}"`, () => field.json))
}

function put(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return MARK
  if (Array.isArray(value)) return [put(value[0], rest)]
  const fields = typeof value === 'object' && value !== null ? value : {}
  const inner: unknown = Reflect.get(fields, name)
  // As a field of its own: `__proto__` is none in a literal.
  return Object.fromEntries([...Object.entries(fields).filter(([other]) => other !== name), [name, put(inner, rest)]])
}

/** What mostly gets past the rules: small amounts, people and things that there are. By the field's name. */
const likelyValues: Readonly<Record<string, (caller: number, n: number) => unknown>> = {
  u_id: (caller) => caller,
  amount_in_dollars: () => 1,
  dollars: () => 1,
  agent_dollars: () => 1,
  amount: () => 1,
  quantity: () => 1,
  decoration_id: (_, n) => 1 + (n % 3),
  room_id: () => 'R1',
  country_id: (_, n) => 1 + (n % 8),
  target_user_id: () => 5,
  business_manager_id: () => 5,
  beneficiary_user_id: () => 6,
  receiver_id: () => 6,
  owner_id: () => 6,
  privilege_package_id: () => 1,
  game_price: () => 1,
  max_players: () => 2,
  period: (_, n) => `p${n}`,
  client_seed: (_, n) => `s${n}`,
  uid: (_, n) => `u-${n}`,
  user_notice: () => SECRET_CANARY,
  bank_name: () => SECRET_CANARY,
  account_name: () => SECRET_CANARY,
  account_number: () => SECRET_CANARY,
}

function likely(value: unknown, caller: number, n: number): unknown {
  if (Array.isArray(value)) return value.map((item) => likely(item, caller, n))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const known = Object.hasOwn(likelyValues, name) ? likelyValues[name] : undefined
      if (known !== undefined) return [name, known(caller, n)]
      if (name === 'user_id') return [name, Array.isArray(inner) ? [6] : 6]
      return [name, likely(inner, caller, n)]
    }),
  )
}
