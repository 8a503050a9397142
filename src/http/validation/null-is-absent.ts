import type { AnySchema, FuncKeywordDefinition } from 'ajv'

/** Ajv keyword of object schemas: the names of the fields whose `null` means that they are absent. */
const NULL_IS_ABSENT = 'x-null-is-absent'

/** Removes those fields where they are `null`, before the others are checked. */
export const nullIsAbsent: FuncKeywordDefinition = {
  keyword: NULL_IS_ABSENT,
  type: 'object',
  schemaType: 'array',
  before: 'properties',
  modifying: true,
  errors: false,
  compile(names: readonly string[]) {
    return (fields: object) => {
      for (const name of names) if (Reflect.get(fields, name) === null) Reflect.deleteProperty(fields, name)
      return true
    }
  },
}

/** The schema with the keyword on each object in it that has optional fields for which `null` is no value. */
export function withNullsAbsent(schema: object): AnySchema {
  return isSchema(schema) ? convert(schema) : schema
}

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function convert(schema: Schema): Schema {
  const converted: Record<string, unknown> = { ...schema }
  for (const name of ['items', 'additionalProperties']) {
    const inner = schema[name]
    if (isSchema(inner)) converted[name] = convert(inner)
  }
  for (const name of ['anyOf', 'allOf', 'oneOf']) {
    const branches = schema[name]
    if (Array.isArray(branches))
      converted[name] = branches.map((branch) => (isSchema(branch) ? convert(branch) : branch))
  }
  const { properties, required } = schema
  if (!isSchema(properties)) return converted
  const fields = Object.entries(properties)
  converted['properties'] = Object.fromEntries(
    fields.map(([name, field]) => [name, isSchema(field) ? convert(field) : field]),
  )
  const isOptional = (name: string): boolean => !Array.isArray(required) || !required.includes(name)
  const names = fields.flatMap(([name, field]) => (isOptional(name) && !acceptsNull(field) ? [name] : []))
  return names.length === 0 ? converted : { ...converted, [NULL_IS_ABSENT]: names }
}

function acceptsNull(schema: unknown): boolean {
  if (!isSchema(schema)) return true
  const { type, anyOf, const: constant } = schema
  if (Array.isArray(anyOf)) return anyOf.some(acceptsNull)
  if (type === undefined) return constant === undefined || constant === null
  return type === 'null'
}
