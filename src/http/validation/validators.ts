import { Ajv, type AnySchema, type FuncKeywordDefinition, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { isVisible, TEXT_FORM } from '../../../schema/common.ts'

/** The most UTF-16 units that normalise to one code point. */
const MAX_UNITS_PER_CODE_POINT = 8

/** More marks on one letter than Unicode's stream-safe format allows: ordering them takes quadratic time. */
const TOO_MANY_MARKS = /\p{M}{31}/u

/**
 * Ajv keyword of the schemas `Text` and `Prose`. It replaces the text by its normal form (NFC) before the length is
 * checked, so that rules and request hashes see only that form. Text that cannot fit is left to `maxLength`, an empty one to
 * `minLength`.
 */
const textForm: FuncKeywordDefinition = {
  keyword: TEXT_FORM,
  type: 'string',
  schemaType: 'string',
  before: 'maxLength',
  modifying: true,
  compile(form: string, { maxLength }) {
    const mustBeVisible = form === 'visible'
    const maxUnits = Number(maxLength) * MAX_UNITS_PER_CODE_POINT
    return (text: string, context) => {
      if (text.length > maxUnits || text === '') return true
      if (mustBeVisible && !isVisible(text)) return NEVER_ALLOWED.test(text)
      if (isAscii(text)) return true
      if (TOO_MANY_MARKS.test(text) || !closesIsolates(text)) return false
      const normal = text.normalize('NFC')
      if (normal !== text && context !== undefined) Reflect.set(context.parentData, context.parentDataProperty, normal)
      return true
    }
  },
}

/** What `pattern` refuses in any text: not a line break, which `Prose` may have. */
const NEVER_ALLOWED = /[^\P{Cc}\n]|\p{Cs}/u

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** Whether each directional isolate (U+2066 to U+2068) is ended (U+2069) within the text, and nothing else is. */
function closesIsolates(text: string): boolean {
  let open = 0
  for (const [mark] of text.matchAll(/[\u2066-\u2069]/g)) {
    open += mark === '\u2069' ? -1 : 1
    if (open < 0) return false
  }
  return open === 0
}

/** Ajv keyword of object schemas: the names of the fields whose `null` means that they are absent. */
const NULL_IS_ABSENT = 'x-null-is-absent'

/** Removes those fields where they are `null`, before the others are checked. */
const nullIsAbsent: FuncKeywordDefinition = {
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
function withNullsAbsent(schema: object): AnySchema {
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

/** Nothing is converted or filled in; texts are normalised; violations carry what `messages.ts` needs. */
const options = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  verbose: true,
  keywords: [textForm, nullIsAbsent],
} as const satisfies Options

/** Bodies of which only the first fault is collected, because even counting their values would take too long. */
const largeBodies = new WeakSet<object>()

export function markLarge(body: unknown): void {
  if (typeof body === 'object' && body !== null) largeBodies.add(body)
}

/** Requests with more values than this, at any depth, have only their first fault collected. */
const MAX_COLLECTED_VALUES = 500

const first = new Ajv({ ...options, allErrors: false })
const every = new Ajv({ ...options, allErrors: true })

type Validator = ReturnType<FastifySchemaCompiler<unknown>>

/** By schema, as several routes have the same. */
const validators = new WeakMap<object, Validator>()

/**
 * Makes the validator of a schema, which is compiled at its first request: 200 at once would take a second of every start.
 * A request is first checked up to its first fault: lists are bounded before their items are checked, and a large invalid
 * body costs no more than a valid one. Only small requests are then checked for all faults, by a second validator.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema }) => {
  let validator = validators.get(schema)
  if (validator === undefined) {
    const lenient = once(() => withNullsAbsent(schema))
    validator = inTwoPasses(
      once(() => first.compile(lenient())),
      once(() => every.compile(lenient())),
    )
    validators.set(schema, validator)
  }
  return validator
}

function inTwoPasses(upToFirst: () => ValidateFunction, toTheEnd: () => ValidateFunction): Validator {
  const validate: Validator = (data: unknown) => {
    if (upToFirst()(data)) return true
    const all = hasAtMostValues(data, MAX_COLLECTED_VALUES) ? toTheEnd() : upToFirst()
    validate.errors = all(data) ? [] : (all.errors ?? [])
    return false
  }
  return validate
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Whether a value contains at most so many values, itself included. Stops at the limit. */
export function hasAtMostValues(value: unknown, most: number): boolean {
  if (typeof value === 'object' && value !== null && largeBodies.has(value)) return false
  const left = [value]
  for (let seen = 1; left.length > 0; seen += 1) {
    const next = left.pop()
    if (typeof next !== 'object' || next === null) continue
    const inner: unknown[] = Array.isArray(next) ? next : Object.values(next)
    if (seen + left.length + inner.length > most) return false
    left.push(...inner)
  }
  return true
}
