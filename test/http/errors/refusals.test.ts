import { test } from 'tap'
import { refusalResponsesIn } from '../../../src/http/errors/refusals.ts'

const full = { game_full: { status: 422, message: { en: 'Game is full', ar: 'اكتمل عدد اللاعبين.' } } } as const
const missing = { not_found: { status: 404, message: { en: 'Not found.', ar: 'غير موجود.' } } } as const

test('a refusal has the response of its code, which one model declares', async (t) => {
  const responseOf = refusalResponsesIn([full, missing])
  t.same(
    [responseOf({ refusal: 'game_full' }), responseOf({ refusal: 'not_found' })],
    [full.game_full, missing.not_found],
  )
  for (const refusal of ['other', 'constructor', '__proto__']) {
    t.throws(() => responseOf({ refusal }), { message: `the refusal ${refusal} is declared by no model` })
  }
  t.throws(() => refusalResponsesIn([full, missing, full]), { message: 'the refusal game_full is declared twice' })
})
