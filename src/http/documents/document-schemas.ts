import { documentedForm, nameOf, type SchemaName } from '../../../schema/named.ts'

/** A JSON object of a document. */
export type Json = Readonly<Record<string, unknown>>

const ANNOTATIONS: readonly string[] = ['title', 'description', 'default', 'examples']

/** Turns our schemas into those of a document: each named one is listed once, and referred to wherever it occurs. */
export class DocumentSchemas {
  readonly #named = new Map<string, { readonly source: object; form: Json }>()
  readonly #keyword: string
  readonly #prefix: string

  /** A reference to a named schema is this keyword with the name after this prefix. */
  constructor(keyword = '$ref', prefix = '#/components/schemas/') {
    this.#keyword = keyword
    this.#prefix = prefix
  }

  /** The named schemas so far, by name. */
  get components(): Json {
    const byName = [...this.#named].sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(byName.map(([name, { form }]) => [name, form]))
  }

  /** Any value of a schema; throws when one name stands for two schemas. */
  convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.convert(item))
    return isJson(value) ? this.convertSchema(value) : value
  }

  convertSchema(schema: Json): Json {
    const form = documentedForm(schema)
    if (form !== undefined) return { ...this.convertFields({ ...form }), ...annotationsOf(schema) }
    const mark = nameOf(schema)
    if (mark === undefined || !isUnchanged(schema, mark)) return this.convertFields(schema)
    this.#add(mark)
    const { description } = schema
    const reference = { [this.#keyword]: `${this.#prefix}${mark.name}` }
    if (description === undefined || Reflect.get(mark.schema, 'description') === description) return reference
    // AsyncAPI takes no description next to a reference.
    return this.#keyword === '$ref' ? { allOf: [reference], description } : { ...reference, description }
  }

  #add({ name, schema }: SchemaName): void {
    const known = this.#named.get(name)
    if (known !== undefined) {
      if (known.source !== schema) throw new Error(`two schemas are named ${name}`)
      return
    }
    const entry = { source: schema, form: {} }
    this.#named.set(name, entry)
    entry.form = this.convertFields({ ...schema })
  }

  /** The name that a converted schema refers to; null when it is no reference. */
  nameIn(schema: object): string | null {
    const reference: unknown = Reflect.get(schema, this.#keyword)
    return typeof reference === 'string' ? reference.slice(this.#prefix.length) : null
  }

  /** Whether a converted schema requires a field. */
  requiresFields(schema: unknown): boolean {
    if (!isJson(schema)) return false
    const name = this.nameIn(schema)
    if (name !== null) return this.requiresFields(this.components[name])
    const { required, anyOf } = schema
    if (Array.isArray(anyOf)) return anyOf.every((branch) => this.requiresFields(branch))
    return Array.isArray(required) && required.length > 0
  }

  /** As `convertSchema`, but spelled out where the schema itself is named. */
  convertFields(schema: Json): Json {
    const { anyOf, patternProperties, ...others } = schema
    const choice = choiceOf(anyOf)
    if (choice !== undefined) return { ...choice, ...this.convertFields(others) }
    const [anyField] = isJson(patternProperties) ? Object.values(patternProperties) : []
    // A record. Generators of clients lose the type of patternProperties.
    if (anyField !== undefined) return this.convertFields({ ...others, additionalProperties: anyField })
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.convert(value)]))
  }
}

/** A union of constants of one type as an enumeration. */
function choiceOf(anyOf: unknown): Json | undefined {
  if (!Array.isArray(anyOf) || !anyOf.every((branch) => isJson(branch) && 'const' in branch)) return undefined
  const values = anyOf.map((branch) => Reflect.get(branch, 'const'))
  if (values.every((value) => typeof value === 'string')) return { type: 'string', enum: values }
  return values.every(Number.isInteger) ? { type: 'integer', enum: values } : undefined
}

/** A copy of a named schema may have another description, and may be optional; it is the same schema then. */
const isUnchanged = (schema: Json, { schema: source }: SchemaName): boolean =>
  [...new Set([...Object.keys(schema), ...Object.keys(source)])].every(
    (key) => ANNOTATIONS.includes(key) || schema[key] === Reflect.get(source, key),
  )

const annotationsOf = (schema: Json): Json =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => ANNOTATIONS.includes(key)))

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `roulette-wheel-created` and `not_found_code` as names of types: `RouletteWheelCreated`, `NotFoundCode`. */
export const pascalCase = (words: string): string =>
  words.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
