import { test } from 'tap'
import { loadSlices } from '../../src/domain.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'

const { slices } = await loadSlices()

const rose = { en: 'Rose', ar: 'وردة' }
const odds = [
  { multiplier: 2, weight: 1 },
  { multiplier: 0, weight: 4 },
]

test('a name may be given in both languages; clients read that of their request, operators what was given', async (t) => {
  const { database, operator, user } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  const gift = { kind: 'lucky', price: 100, odds }
  const put = await operator('PUT', '/admin/v1/decorations/1', { ...gift, name: { ...rose, fr: 'Rose' } })
  t.match(put, { status: 200, body: { data: { name: rose } } })
  await operator('PUT', '/admin/v1/decorations/2', { ...gift, name: 'Crown' })
  const same = await operator('PUT', '/admin/v1/decorations/1', { name: rose, price: 100 })
  t.match(same.body, { data: { name: rose } })
  t.match(await operator('GET', '/admin/v1/decorations?lang=ar'), {
    body: {
      data: [
        { id: 2, name: 'Crown' },
        { id: 1, name: rose },
      ],
    },
  })
  t.same(
    await queryRows(
      database,
      `select version, data::json -> 'name' as name from ledger_events where type = 'decoration-defined'`,
    ),
    [
      { version: 2, name: rose },
      { version: 2, name: 'Crown' },
    ],
    'the same definition writes no event',
  )

  const list = async (headers: Record<string, string>) => {
    const answer = await user(1)('GET', '/api/v1/decorations', undefined, headers)
    return { ...answer, etag: String(answer.headers['etag']) }
  }
  const english = await list({})
  const arabic = await list({ 'accept-language': 'ar-EG' })
  t.match(english.body, {
    data: [
      { id: 2, name: 'Crown' },
      { id: 1, name: 'Rose' },
    ],
  })
  t.match(arabic.body, {
    data: [
      { id: 2, name: 'Crown' },
      { id: 1, name: 'وردة' },
    ],
  })
  t.not(arabic.etag, english.etag)
  t.match(arabic.headers, { vary: 'Accept-Encoding, Accept-Language, Lang' })
  t.equal((await list({ 'if-none-match': english.etag })).status, 304)
  t.equal((await list({ 'if-none-match': english.etag, lang: 'ar' })).status, 200)
  t.equal((await list({ 'if-none-match': arabic.etag, lang: 'ar' })).status, 304)
  const hashOf = ({ body }: { readonly body: unknown }) => JSON.stringify(body).match(/[0-9a-f]{64}/g)
  t.same(hashOf(arabic), hashOf(english), 'the odds have one hash')

  t.match((await operator('PUT', '/admin/v1/decorations/1', { name: 'Rosebud' })).body, { data: { name: 'Rosebud' } })
  t.match(
    (await list({ lang: 'ar' })).body,
    { data: [{ name: 'Crown' }, { name: 'Rosebud' }] },
    'one name for all again',
  )
})

test('names of packages and countries', async (t) => {
  const { operator, user } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  const gold = { en: 'Gold', ar: 'ذهبي' }
  const egypt = { en: 'Egypt', ar: 'مصر' }
  t.match(await operator('PUT', '/admin/v1/privilege-packages/1', { name: gold, rank: 1, valid_days: 5 }), {
    status: 200,
    body: { data: { name: gold } },
  })
  t.match(await operator('PUT', '/admin/v1/countries/1', { name: egypt }), { body: { data: { name: egypt } } })
  t.match(await operator('PUT', '/admin/v1/countries/1', {}), { body: { data: { name: egypt } } })
  t.match(await operator('GET', '/admin/v1/countries/1'), { body: { data: { name: egypt } } })
  t.match(await operator('GET', '/admin/v1/privilege-packages/1'), { body: { data: { name: gold } } })
  const grant = { privilege_package_id: 1, quantity: 1, reason: 'test' }
  await operator('POST', '/admin/v1/users/1/cards', grant)
  t.match(await user(1)('GET', '/v1/privilege-wallet'), { body: { data: [{ privilege_package_name: 'Gold' }] } })
  t.match(await user(1)('GET', '/v1/privilege-wallet?lang=ar'), {
    body: { data: [{ privilege_package_name: 'ذهبي' }] },
  })
  t.match(await operator('PUT', '/admin/v1/countries/2?lang=ar', { name: { en: 'Iraq' } }), {
    status: 422,
    body: { errors: { 'name.ar': ['هذا الحقل مطلوب.'] } },
  })
  t.match(await operator('PUT', '/admin/v1/countries/2?lang=ar', { name: 7 }), {
    status: 422,
    body: { errors: { name: ['يجب أن تكون القيمة اسمًا، أو كائنًا فيه الاسمان en وar.'] } },
  })
})
