import { test } from 'tap'
import { refusalResponsesIn } from '../../../src/http/errors/refusals.ts'

const full = { game_full: { status: 422, message: 'Game is full' } } as const
const missing = { not_found: { status: 404, message: 'Not found.' } } as const

test('a code means what its list says', (t) => {
  const responseOf = refusalResponsesIn([full, missing])
  t.same(responseOf({ refusal: 'game_full' }), { status: 422, message: 'Game is full' })
  t.same(responseOf({ refusal: 'not_found' }), { status: 404, message: 'Not found.' })
  t.end()
})

test('a code of no list is a bug, whatever objects inherit', (t) => {
  const responseOf = refusalResponsesIn([full])
  for (const refusal of ['not_found', 'constructor', '__proto__']) {
    t.throws(() => responseOf({ refusal }), { message: `the refusal ${refusal} is declared by no model` })
  }
  t.end()
})

test('no two lists declare the same code', (t) => {
  t.throws(() => refusalResponsesIn([full, missing, { game_full: { status: 422, message: 'Too many players' } }]), {
    message: 'the refusal game_full is declared twice',
  })
  t.end()
})
