import { type TSchema, Type } from '@sinclair/typebox'
import { test } from 'tap'
import { VerifyBody } from '../../../schema/fairness.ts'
import { InstantSend } from '../../../schema/gifts.ts'
import { DefineUsers } from '../../../schema/users.ts'
import { compileValidator, hasAtMostValues } from '../../../src/http/validation/validators.ts'

const many = <T>(length: number, item: () => T): T[] => Array.from({ length }, item)

/** Faults that a validator finds in a body. */
function faultsIn(schema: TSchema, body: unknown): number {
  const validate = compileValidator({ schema, method: 'POST', url: '/', httpPart: 'body' })
  return validate(body) === true ? 0 : (validate.errors?.length ?? 0)
}

test('few faults of a large body are collected', async (t) => {
  const draw = { chain: 'c', k: 1, link: 'a'.repeat(64), client_seed: 's' }
  const bodies: readonly (readonly [string, TSchema, unknown])[] = [
    ['two lists of objects', VerifyBody, { ...draw, orders: many(10_700, Object), odds: many(10_700, Object) }],
    ['lists that may be as long', VerifyBody, { ...draw, orders: many(100, Object), odds: many(1_000, Object) }],
    ['a list of nothing', VerifyBody, many(30_000, () => null)],
    ['ids that are texts', InstantSend, { user_id: many(20_000, () => 'x') }],
    ['rows without ids', DefineUsers, { users: many(1_000, Object) }],
    ['very many rows', DefineUsers, { users: many(300_000, Object) }],
  ]
  for (const [name, schema, body] of bodies) {
    const found = faultsIn(schema, body)
    t.ok(found > 0 && found <= 20, `${name}: ${found}`)
  }
  t.equal(faultsIn(DefineUsers, { users: many(1_000, () => ({ id: 1 })) }), 0)
})

test('every fault of a small body is collected', async (t) => {
  const schema = Type.Object({ a: Type.Integer(), b: Type.Array(Type.Integer(), { maxItems: 2 }) })
  t.equal(faultsIn(schema, { a: 'x', b: ['x', 'y', 'z'] }), 5)
  t.equal(faultsIn(schema, { a: 'x', b: many(490, () => 'x') }), 492)
})

test('values are counted up to a limit, at any depth', async (t) => {
  t.ok(hasAtMostValues('text', 1))
  t.ok(hasAtMostValues({ a: [1, { b: null }] }, 5))
  t.notOk(hasAtMostValues({ a: [1, { b: null }] }, 4))
  t.notOk(hasAtMostValues(JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`), 1_000))
  t.notOk(hasAtMostValues(many(1_000_000, Object), 1_000))
})
