import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { test } from 'tap'
import { TEXT_FORM } from '../../schema/common.ts'
import { clientFrames } from '../../schema/frames.ts'
import { loadSlices } from '../../src/domain.ts'
import { createTestApp } from '../harness/app/test-app.ts'

const { slices } = await loadSlices()

const Schema = Type.Recursive((Self) =>
  Type.Object({
    type: Type.Optional(Type.Unknown()),
    const: Type.Optional(Type.Unknown()),
    pattern: Type.Optional(Type.String()),
    maxLength: Type.Optional(Type.Integer()),
    [TEXT_FORM]: Type.Optional(Type.Boolean()),
    properties: Type.Optional(Type.Record(Type.String(), Self)),
    items: Type.Optional(Self),
    anyOf: Type.Optional(Type.Array(Self)),
    allOf: Type.Optional(Type.Array(Self)),
  }),
)
type Schema = Static<typeof Schema>

/** A schema of text, by where it stands. */
type PlacedText = readonly [place: string, text: Schema]

/** Every text that a schema lets in, however deep. */
function textsIn(schema: Schema, place: string): readonly PlacedText[] {
  const { properties = {}, items, anyOf = [], allOf = [] } = schema
  return [
    ...(schema.type === 'string' && schema.const === undefined ? [[place, schema] as const] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => textsIn(inner, `${place}.${name}`)),
    ...(items === undefined ? [] : textsIn(items, `${place}[]`)),
    ...[...anyOf, ...allOf].flatMap((inner) => textsIn(inner, place)),
  ]
}

/** Read as numbers, or compared with what the ledger says: kept nowhere. */
const NEVER_KEPT = /\/fairness\/verify |\.(amount|amount_in_dollars|dollars|agent_dollars)$/

/** Printable ASCII has one form only. */
const isAsciiOnly = ({ pattern }: Schema): boolean => {
  if (pattern === undefined) return false
  const form = new RegExp(pattern, 'u')
  return !['\0', '\n', '\u0080', 'é', 'e\u0301', '\ud800', '\u202e', '😀'].some((sign) => form.test(sign))
}

const hasBound = ({ maxLength, pattern = '' }: Schema): boolean =>
  maxLength !== undefined || !new RegExp(pattern, 'u').test('1'.repeat(10_000))

test('every text of a body that can be kept has a longest length and one form', async (t) => {
  const { app } = await createTestApp(t, slices)
  const Operation = Type.Object({
    requestBody: Type.Object({ content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }) }),
  })
  const texts = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).flatMap(([method, operation]) =>
      Value.Check(Operation, operation)
        ? textsIn(operation.requestBody.content['application/json'].schema, `${method.toUpperCase()} ${path} body`)
        : [],
    ),
  )
  t.ok(texts.some(([place]) => place.endsWith('body.users[].name')))
  t.ok(texts.some(([place]) => place.endsWith('body.bank_details.account_number')))
  for (const [place, text] of texts) {
    t.ok(hasBound(text), `${place} has a longest length`)
    if (NEVER_KEPT.test(place)) continue
    t.ok(text[TEXT_FORM] === true || isAsciiOnly(text), `${place} has one form`)
  }
})

test('every text of a client frame has a longest length and holds nothing that cannot be looked up', (t) => {
  for (const [name, schema] of Object.entries(clientFrames)) {
    for (const [place, text] of textsIn(Value.Parse(Schema, schema), name)) {
      t.ok(hasBound(text), `${place} has a longest length`)
      const form = new RegExp(text.pattern ?? '')
      t.ok(form.test('global') || form.test('12'), `${place} takes what it is for`)
      for (const bad of ['\0', 'a\nb', '\u0085', '\ud800', 'a\udc00b']) t.notOk(form.test(bad), `${place} refuses it`)
    }
  }
  t.ok(new RegExp(echoPattern()).test('😀 é'))
  t.end()
})

const echoPattern = (): string =>
  textsIn(Value.Parse(Schema, clientFrames.ping), 'ping').find(([place]) => place === 'ping.i')?.[1].pattern ?? '$^'
