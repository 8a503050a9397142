import type { Schema } from './api-routes.ts'

/** Nested fields deeper than this are not listed. */
const MAX_DEPTH = 4

/** A field of a body. */
interface BodyField {
  /** Names on the way to it; 0 for the first item of a list. */
  readonly path: readonly string[]
  readonly schema: Schema
}

/** Every field of one branch of a body at any depth; a field that is a union once for each kind of value. */
export function* fieldsIn(branch: Schema, path: readonly string[] = []): Generator<BodyField> {
  if (path.length > MAX_DEPTH) return
  for (const [name, inner] of Object.entries(branch.properties ?? {})) {
    for (const schema of branchesOf(inner)) {
      yield { path: [...path, name], schema }
      if (schema.type === 'object') yield* fieldsIn(schema, [...path, name])
      if (schema.items?.type === 'object') yield* fieldsIn(schema.items, [...path, name, '0'])
    }
  }
}

/** One branch of a union for each type, and all object branches: to fill two strings or constants is no use. */
export function branchesOf(schema: Schema): readonly Schema[] {
  if (schema.anyOf === undefined) return [schema]
  const branches = schema.anyOf.flatMap(branchesOf)
  return branches.filter(
    (branch, i) => branch.type === 'object' || branches.findIndex(({ type }) => type === branch.type) === i,
  )
}

const MARK = 'here stands the value'

/** A body with one field replaced by this JSON, which need not survive being a value here. */
export const bodyWith = (body: unknown, branch: Schema, path: readonly string[], json: string): string =>
  JSON.stringify(put(body, branch, path)).replace(`"${MARK}"`, () => json)

function put(value: unknown, schema: Schema, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return MARK
  if (name === '0') {
    const [first] = Array.isArray(value) ? value : []
    return [put(first ?? smallest(schema.items ?? {}), schema.items ?? {}, rest)]
  }
  const fields = typeof value === 'object' && value !== null ? value : {}
  const inner = branchesOf(schema.properties?.[name] ?? {}).find(({ type }) =>
    rest[0] === '0' ? type === 'array' : type === 'object',
  )
  const others = Object.entries(fields).filter(([other]) => other !== name)
  // As a field of its own: `__proto__` is none in a literal.
  return Object.fromEntries([
    ...others,
    [name, put(Reflect.get(fields, name) ?? smallest(inner ?? {}), inner ?? {}, rest)],
  ])
}

/** The smallest value of a schema; only the most frequent patterns are met. */
export function smallest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.anyOf ?? []
  if (first !== undefined) return smallest(first)
  const { properties = {}, required = [], items = {}, minItems = 0, minimum = 0, minLength = 0, pattern } = schema
  switch (schema.type) {
    case 'object': {
      const fields = Object.entries(properties).filter(([name]) => required.includes(name))
      return Object.fromEntries(fields.map(([name, inner]) => [name, smallest(inner)]))
    }
    case 'array':
      return Array.from({ length: minItems }, () => smallest(items))
    case 'string':
      if (pattern?.includes('{64}') === true) return 'a'.repeat(64)
      return pattern?.startsWith('^[0-9]+') === true ? '1' : 'a'.repeat(Math.max(1, minLength))
    case 'integer':
    case 'number':
      return minimum
    case 'null':
      return null
    default:
      return true
  }
}
