import * as fc from 'fast-check'
import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { anyCharacter, runs } from '../../harness/properties.ts'

const DECOMPOSED = 'Re\u0301ne\u0301e'
const COMPOSED = 'Rénée'

test('text is stored, returned and measured in NFC', async (t) => {
  const { operator, user } = await createTestApp(t)
  const name = async (text: string) => operator('PUT', '/admin/v1/users/1', { name: text })
  t.match(await name(DECOMPOSED), { status: 200, body: { data: { name: COMPOSED } } })
  t.match(await operator('GET', '/admin/v1/users/1'), { body: { data: { name: COMPOSED } } })
  t.match(await name('e\u0301'.repeat(100)), { status: 200, body: { data: { name: 'é'.repeat(100) } } })
  t.match(await name('e\u0301'.repeat(101)), { status: 422, body: { code: 'validation_failed' } })
  // Code points, not UTF-16 units.
  t.match(await name('😀'.repeat(100)), { status: 200 })
  t.match(await name('😀'.repeat(101)), { status: 422 })
  // A character that NFC makes longer: U+0958 becomes two code points.
  t.match(await name('\u0958'.repeat(50)), { status: 200 })
  t.match(await name('\u0958'.repeat(51)), { status: 422 })

  const key = { 'idempotency-key': 'one' }
  const first = await operator('POST', '/admin/v1/users', { users: [{ id: 1, name: DECOMPOSED }] }, key)
  t.match(first, { status: 200, body: { data: [{ name: COMPOSED }] } })
  const again = await operator('POST', '/admin/v1/users', { users: [{ id: 1, name: COMPOSED }] }, key)
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' } })
  t.equal(again.text, first.text, 'texts of another form, also in lists, are the same request')

  // Characters that could reorder the text around them are refused, in texts of one line and of several.
  await operator('PUT', '/admin/v1/users/1', { name: 'one' })
  await operator('PUT', '/admin/v1/users/2', { business_manager: 1 })
  await operator('PUT', '/admin/v1/countries/1', { name: 'one' })
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'dollars', amount: 90, reason: 'opening' })
  const single = (text: string) => operator('PUT', '/admin/v1/users/1', { name: text })
  const several = (user_notice: string) =>
    user(1)('POST', '/api/v1/agency/target-withdraw-requests/request', {
      type: 'cash',
      business_manager_id: 2,
      bank_details: { bank_name: 'b', account_name: 'a', account_number: '1' },
      amount_in_dollars: 1,
      country_id: 1,
      user_notice,
    })
  const bad = ['\0', '\t', '\r', '\u001f', '\u007f', '\u0080', '\u009f', '\ud800', '\udc00', '\u202a', '\u202e']
  const open = ['\u2066', '\u2069', 'a\u2069\u2066', '\u2067\u2068\u2069', `a${'\u0301'.repeat(31)}`]
  for (const sign of [...bad, ...open]) {
    t.match(await single(`a${sign}b`), { status: 422, body: { errors: { name: [/must be text/] } } }, escape(sign))
    t.match(await several(`a${sign}b`), { status: 422, body: { errors: { user_notice: [/must be text/] } } })
  }
  t.match(await single('a\nb'), { status: 422 })
  t.match(await several('a\nb'), { status: 201, body: { data: { user_notice: 'a\nb' } } })
  for (const good of ['\u2068عنوان\u2069', '👩‍👩‍👧‍👦', 'नमस्ते', 'ไทย', '한국어', `a${'\u0316'.repeat(30)}`]) {
    t.match(await single(good), { status: 200, body: { data: { name: good.normalize('NFC') } } }, good)
  }

  // Any other text is either refused or stored in its normal form.
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 120 }), async (text) => {
      const { status, body } = await operator('PUT', '/admin/v1/users/1', { name: text })
      const kept: unknown = Object(Object(body).data).name
      return status === 422 || (status === 200 && kept === text.normalize('NFC'))
    }),
    runs(60),
  )
})

test('a required text has a visible character, wherever one is required', async (t) => {
  const { operator } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1, name: 'one' }] })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 1, image_path: 'a.png' })
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 5, icon_path: 'a.png' })
  const requests: readonly (readonly [string, 'POST' | 'PUT', string, (text: string) => object])[] = [
    ['reason', 'POST', '/admin/v1/users/1/credits', (reason) => ({ currency: 'coins', amount: 1, reason })],
    ['reason', 'POST', '/admin/v1/users/1/debits', (reason) => ({ currency: 'coins', amount: 1, reason })],
    ['reason', 'POST', '/admin/v1/users/1/bag', (reason) => ({ decoration_id: 1, quantity: 1, reason })],
    ['reason', 'POST', '/admin/v1/users/1/cards', (reason) => ({ privilege_package_id: 1, quantity: 1, reason })],
    ['name', 'PUT', '/admin/v1/decorations/1', (name) => ({ name })],
    ['name.ar', 'PUT', '/admin/v1/countries/1', (ar) => ({ name: { en: 'Egypt', ar } })],
    ['title.en', 'PUT', '/admin/v1/app-mode', (en) => ({ title: { en } })],
    ['message.ar', 'PUT', '/admin/v1/app-mode', (ar) => ({ message: { ar } })],
  ]
  const faults: string[] = []
  for (const [field, method, url, body] of requests) {
    for (const text of [
      ' ',
      '\u00a0',
      '\u3000',
      '\ufeff',
      '\u200b',
      ' \u2060\u00ad ',
      '\u2068\u2069',
      '\u200e',
      '\u3164\ufe0f\u2800',
    ]) {
      const answer = await operator(method, url, body(text))
      const errors = Object(Object(answer.body).errors)
      if (answer.status !== 422 || errors[field]?.[0] !== 'The text must have a visible character.')
        faults.push(`${url} ${escape(text)}: ${answer.text}`)
    }
    for (const text of ['.', '\u0301', '😀', '١', '\u200bא']) {
      const { status, text: answered } = await operator(method, url, body(text))
      if (status >= 400) faults.push(`${url} ${escape(text)}: ${answered}`)
    }
  }
  t.strictSame(faults, [])
  const lines = await operator('PUT', '/admin/v1/app-mode', { message: { en: '\n\u200b\n' } })
  t.match(lines, { status: 422, body: { errors: { 'message.en': ['The text must have a visible character.'] } } })
})
