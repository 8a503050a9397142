import { type TSchema, Type } from '@sinclair/typebox'
import { test } from 'tap'
import { RequestWithdrawal } from '../../../schema/agency.ts'
import { DefineRelease, SetAppMode } from '../../../schema/app-status.ts'
import { VerifyBody } from '../../../schema/fairness.ts'
import { InstantSend } from '../../../schema/gifts.ts'
import { parseQuery } from '../../../src/http/validation/request-parts.ts'
import { compileValidator } from '../../../src/http/validation/validators.ts'
import { parseFrame } from '../../../src/realtime/sockets/frame-parser.ts'

/** Whether a body is valid, and what is left of it. */
function check(schema: TSchema, body: object): [boolean, object] {
  const validate = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' })
  return [validate(body) === true, body]
}

test('null for an optional field is an absent field', async (t) => {
  const gift = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 1, room_id: 'r' }
  const withdrawal = {
    type: 'gold_agent',
    target_user_id: 5,
    beneficiary_user_id: 6,
    amount_in_dollars: '1',
    country_id: 1,
  }
  const schema = Type.Object({
    list: Type.Array(Type.Object({ a: Type.Optional(Type.Integer()) })),
    map: Type.Optional(Type.Record(Type.String(), Type.Object({ a: Type.Optional(Type.String()) }))),
    any: Type.Optional(Type.Unknown()),
    nullable: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  })
  const cases: readonly (readonly [string, TSchema, object, boolean, object])[] = [
    ['a flag', InstantSend, { ...gift, is_bag: null }, true, gift],
    ['a required field', Type.Object({ a: Type.Integer() }), { a: null }, false, { a: null }],
    ['in a list', schema, { list: [{ a: null }, { a: 1 }] }, true, { list: [{}, { a: 1 }] }],
    ['a nullable field', schema, { list: [], nullable: null }, true, { list: [], nullable: null }],
    ['a field of any type', schema, { list: [], any: null }, true, { list: [], any: null }],
    ['in a branch of a union', RequestWithdrawal, { ...withdrawal, user_notice: null }, true, withdrawal],
    ['an unknown field', schema, { list: [], other: null }, true, { list: [], other: null }],
  ]
  for (const [name, of, body, isValid, left] of cases) t.same(check(of, body), [isValid, left], name)
  for (const [name, of, body] of [
    ['block_unidentified', SetAppMode, { block_unidentified: null }],
    ['minimum_version', DefineRelease, { minimum_version: null }],
  ] as const)
    t.same(check(of, { ...body }), [true, body], name)
  t.equal(check(VerifyBody, [])[0], false)
})

test('a query leaves out null and empty values', async (t) => {
  t.same({ ...parseQuery('limit=null&cursor=&type=cash&name=nullable') }, { type: 'cash', name: 'nullable' })
})

test('a frame leaves out null fields', async (t) => {
  t.same(parseFrame('{"t":"sub","ch":"global","since":null,"i":null}'), {
    frame: { t: 'sub', ch: 'global' },
    i: undefined,
  })
  t.same(parseFrame('{"t":"sub","ch":null,"i":1}'), { frame: undefined, i: 1 })
  for (const text of ['null', '[]', '"sub"', '1']) t.equal(parseFrame(text).frame, undefined, text)
})
