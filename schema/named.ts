import type { TSchema } from '@sinclair/typebox'

const NAME = Symbol('name in the documents')
const DOCUMENTED = Symbol('form in the documents')

/** A schema's name in the documents, with the schema as it was named. */
export interface SchemaName {
  readonly name: string
  readonly schema: TSchema
}

/**
 * Names a schema that clients would name: the OpenAPI and AsyncAPI documents list it once and refer to it. Validation
 * does not see the name. One name stands for one schema. The description begins with an article: the documents continue
 * "A list of …, each" with it.
 */
export function named<Schema extends TSchema>(name: string, schema: Schema, description?: string): Schema {
  const described = description === undefined ? schema : { ...schema, description }
  return Object.assign({ ...described }, { [NAME]: { name, schema: described } satisfies SchemaName })
}

/** Validates as `schema`, and is documented as `shown`: where validation cannot say what clients should send or read. */
export const documentedAs = <Schema extends TSchema>(schema: Schema, shown: TSchema): Schema =>
  Object.assign({ ...schema }, { [DOCUMENTED]: shown })

/** The name of a schema; undefined when it has none. A copy of a named schema with other fields keeps this mark, too. */
export const nameOf = (schema: object): SchemaName | undefined => (NAME in schema ? markOf(schema) : undefined)

const markOf = ({ [NAME]: mark }: { readonly [NAME]?: unknown }): SchemaName | undefined =>
  isSchemaName(mark) ? mark : undefined

const isSchemaName = (mark: unknown): mark is SchemaName =>
  typeof mark === 'object' && mark !== null && 'name' in mark && 'schema' in mark

/** What the documents show instead of a schema, if anything. */
export const documentedForm = (schema: object): object | undefined =>
  DOCUMENTED in schema && typeof schema[DOCUMENTED] === 'object' && schema[DOCUMENTED] !== null
    ? schema[DOCUMENTED]
    : undefined
