import { globSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { EventsQuery, ExplainQuery, StatementQuery, TrialBalanceQuery, VerifyQuery } from '../../../schema/finance.ts'
import { arabicFormOf } from '../../../schema/languages.ts'
import { openapiDocument } from '../../../scripts/openapi.ts'
import { expectedForm } from '../../../src/http/validation/messages.ts'
import { dereference } from '../../harness/http/dereference.ts'

const Schema = Type.Recursive((Self) =>
  Type.Object({
    type: Type.Optional(Type.Unknown()),
    pattern: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Record(Type.String(), Self)),
    items: Type.Optional(Self),
    anyOf: Type.Optional(Type.Array(Self)),
    enum: Type.Optional(Type.Array(Type.Unknown())),
  }),
)
type Schema = Static<typeof Schema>

const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())) })
const Operation = Type.Object({
  parameters: Type.Optional(
    Type.Array(Type.Object({ in: Type.String(), description: Type.Optional(Type.String()), schema: Schema })),
  ),
  requestBody: Type.Optional(
    Type.Object({ content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }) }),
  ),
})

/** The forms that errors of values quote: those of patterns, and of unions whose branches have nothing to say. */
function formsIn(schema: Schema): readonly string[] {
  const { pattern, title, description, properties = {}, items, anyOf = [], enum: constants } = schema
  const form = title ?? description
  const isNullable = anyOf.some(({ type }) => type === 'null')
  // Errors of a text state the rule that all texts have.
  const isForm = pattern !== undefined && !pattern.startsWith('^[^\\u0000')
  const isQuoted =
    form !== undefined &&
    (isForm || constants !== undefined || (anyOf.length > 0 && (title !== undefined || !isNullable)))
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf]
  return [...(isQuoted ? [form] : []), ...inner.flatMap(formsIn)]
}

/** The forms, at any depth of a value, that have Arabic beside them. */
function formsInArabic(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const form = arabicFormOf(value) === undefined ? undefined : expectedForm(value)
  return [...(form === undefined ? [] : [form.en]), ...Object.values(value).flatMap(formsInArabic)]
}

test('every form that an error can quote has its Arabic beside it', async (t) => {
  const { paths } = Value.Parse(Document, dereference(await openapiDocument()))
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const forms = new Set(
    operations.flatMap((operation) => {
      const { parameters = [], requestBody } = Value.Parse(Operation, operation)
      const query = parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ schema, description = schema.description }) => ({
          ...schema,
          ...(description !== undefined && { description }),
        }))
      const body = requestBody?.content['application/json'].schema
      return [...query, ...(body === undefined ? [] : [body])].flatMap(formsIn)
    }),
  )
  for (const query of [EventsQuery, ExplainQuery, StatementQuery, TrialBalanceQuery, VerifyQuery]) {
    for (const form of formsIn(Value.Parse(Schema, query))) forms.add(form)
  }
  t.ok(forms.has('android or ios'))
  t.ok(forms.has('1 to 200, default 50'))
  const modules: readonly object[] = await Promise.all(
    globSync('schema/*.ts').map((file) => import(`../../../${file}`)),
  )
  const inArabic = new Set(formsInArabic(modules.map((module) => Object.values(module))))
  t.same([...forms].filter((form) => !inArabic.has(form)).toSorted(), [])
  t.same([...inArabic].filter((form) => !forms.has(form)).toSorted(), [], 'and none that no error quotes')
})
