import { test } from 'tap'
import { meaningIn } from '../../../src/http/errors/refusals.ts'

const full = { game_full: { status: 422, message: 'Game is full' } } as const
const missing = { not_found: { status: 404, message: 'Not found.' } } as const

test('a code means what its list says', (t) => {
  const meaningOf = meaningIn([full, missing])
  t.same(meaningOf({ refusal: 'game_full' }), { status: 422, message: 'Game is full' })
  t.same(meaningOf({ refusal: 'not_found' }), { status: 404, message: 'Not found.' })
  t.end()
})

test('a code of no list is a bug, whatever objects inherit', (t) => {
  const meaningOf = meaningIn([full])
  for (const refusal of ['not_found', 'constructor', '__proto__']) {
    t.throws(() => meaningOf({ refusal }), { message: `the refusal ${refusal} is declared by no model` })
  }
  t.end()
})

test('no two lists declare the same code', (t) => {
  t.throws(() => meaningIn([full, missing, { game_full: { status: 422, message: 'Too many players' } }]), {
    message: 'the refusal game_full is declared twice',
  })
  t.end()
})
