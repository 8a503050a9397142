import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { TEXT_FORM } from '../../schema/common.ts'
import { clientFrames } from '../../schema/frames.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { dereference } from '../harness/http/dereference.ts'

const Schema = Type.Recursive((Self) =>
  Type.Object({
    type: Type.Optional(Type.Unknown()),
    const: Type.Optional(Type.Unknown()),
    enum: Type.Optional(Type.Array(Type.Unknown())),
    pattern: Type.Optional(Type.String()),
    maxLength: Type.Optional(Type.Integer()),
    [TEXT_FORM]: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Record(Type.String(), Self)),
    items: Type.Optional(Self),
    anyOf: Type.Optional(Type.Array(Self)),
    allOf: Type.Optional(Type.Array(Self)),
  }),
)
type Schema = Static<typeof Schema>

/** The schema of a text, with its path. */
type PlacedText = readonly [place: string, text: Schema]

/** Every text that a schema accepts, at any depth. */
function textsIn(schema: Schema, place: string): readonly PlacedText[] {
  const { properties = {}, items, anyOf = [], allOf = [] } = schema
  return [
    ...(schema.type === 'string' && schema.const === undefined && schema.enum === undefined
      ? [[place, schema] as const]
      : []),
    ...Object.entries(properties).flatMap(([name, inner]) => textsIn(inner, `${place}.${name}`)),
    ...(items === undefined ? [] : textsIn(items, `${place}[]`)),
    ...[...anyOf, ...allOf].flatMap((inner) => textsIn(inner, place)),
  ]
}

/** Texts that are parsed as numbers or compared with the ledger, and not stored. */
const NEVER_KEPT = /\/fairness\/verify |\.(amount|amount_in_dollars|dollars|agent_dollars)$/

/** Printable ASCII has one form only. */
const isAsciiOnly = ({ pattern }: Schema): boolean => {
  if (pattern === undefined) return false
  const form = new RegExp(pattern, 'u')
  return !['\0', '\n', '\u0080', 'é', 'e\u0301', '\ud800', '\u202e', '😀'].some((sign) => form.test(sign))
}

const hasBound = ({ maxLength, pattern = '' }: Schema): boolean =>
  maxLength !== undefined || !new RegExp(pattern, 'u').test('1'.repeat(10_000))

test('every text of a body that can be stored has a maximum length and one normal form', async (t) => {
  const { app } = await createTestApp(t)
  const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())) })
  const Operation = Type.Object({
    requestBody: Type.Object({ content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }) }),
  })
  const { paths } = Value.Parse(Document, dereference(app.swagger()))
  const texts = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      Value.Check(Operation, operation)
        ? textsIn(operation.requestBody.content['application/json'].schema, `${method.toUpperCase()} ${path} body`)
        : [],
    ),
  )
  t.ok(texts.some(([place]) => place.endsWith('body.users[].name')))
  t.ok(texts.some(([place]) => place.endsWith('body.bank_details.account_number')))
  const offenders = texts.filter(
    ([place, text]) =>
      !hasBound(text) || !(NEVER_KEPT.test(place) || text[TEXT_FORM] !== undefined || isAsciiOnly(text)),
  )
  t.strictSame(offenders, [])
})

test('every text of a client frame has a maximum length and no control characters or surrogates', async (t) => {
  const texts = Object.entries(clientFrames).flatMap(([name, schema]) => textsIn(Value.Parse(Schema, schema), name))
  const offenders = texts.filter(([, text]) => {
    const form = new RegExp(text.pattern ?? '')
    const isRight = ['global', '12', '0'.repeat(32)].some((good) => form.test(good))
    return !hasBound(text) || !isRight || ['\0', 'a\nb', '\u0085', '\ud800', 'a\udc00b'].some((bad) => form.test(bad))
  })
  t.strictSame(offenders, [])
  t.ok(new RegExp(echoPattern()).test('😀 é'))
})

const echoPattern = (): string =>
  textsIn(Value.Parse(Schema, clientFrames.ping), 'ping').find(([place]) => place === 'ping.i')?.[1].pattern ?? '$^'
