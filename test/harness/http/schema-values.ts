import * as fc from 'fast-check'
import type { Schema } from './api-routes.ts'

/** Ids of users, rooms, gifts and countries that exist, mostly: small, so that many of the values name something. */
export const someId = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 10_000 }) },
  { weight: 1, arbitrary: fc.maxSafeNat().map((id) => Math.max(1, id)) },
)

const nearTheEdges = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min, max: Math.min(max, min + 20) }) },
    { weight: 1, arbitrary: fc.integer({ min, max }) },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
  )

/** To make one costs far more than a value of it, as a pattern looks at every character that there is. */
const made = new WeakMap<Schema, fc.Arbitrary<unknown>>()

/** Values that a schema allows. */
export function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  const known = made.get(schema) ?? arbitraryOf(schema)
  made.set(schema, known)
  return known
}

function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf))
  switch (schema.type) {
    case 'object':
      return objectOf(schema)
    case 'array':
      return listOf(schema)
    case 'string':
      return textOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'integer':
      return schema.minimum === 1 && schema.maximum === Number.MAX_SAFE_INTEGER
        ? someId
        : nearTheEdges(schema.minimum ?? 0, schema.maximum ?? Number.MAX_SAFE_INTEGER)
    case 'number':
      return fc.oneof(
        fc.integer({ min: 0, max: 20 }),
        fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1e6, noNaN: true }),
        fc.integer({ min: 0, max: 2_000_000 }).map((cents) => cents / 100),
      )
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]))
  return fc.record(fields, { requiredKeys: required })
}

function listOf({ items = {}, minItems = 0, maxItems = 5, uniqueItems = false }: Schema): fc.Arbitrary<unknown> {
  const lengths = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 5)) }
  const item = valueOf(items)
  return uniqueItems ? fc.uniqueArray(item, lengths) : fc.array(item, lengths)
}

function textOf({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const free = fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) })
  if (pattern === undefined) return fc.oneof(free, someId.map(String))
  // Texts without control characters: what is left of any text.
  if (pattern.startsWith('^[^')) {
    const form = new RegExp(pattern, 'u')
    return free.map((text) => (form.test(text) && text.length >= minLength ? text : 'x'.repeat(Math.max(1, minLength))))
  }
  return fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?[!=][^)]*\)/g, '')), { size: 'small' })
}
