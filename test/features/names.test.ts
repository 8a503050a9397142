import { test } from 'tap'
import { createTestApp } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'

const rose = { en: 'Rose', ar: 'وردة' }
const odds = [
  { multiplier: 2, weight: 1 },
  { multiplier: 0, weight: 4 },
]

test('names in both languages', async (t) => {
  const { app, database, operator, user } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })

  await t.test(
    'a name may be given in both languages; clients read that of their request, operators what was given',
    async (t) => {
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
          `select version, data::json -> 'name' as name from ledger where type = 'decoration-defined'`,
        ),
        [
          { version: '1', name: JSON.stringify(rose) },
          { version: '1', name: '"Crown"' },
        ],
        'the same definition writes no event',
      )

      const list = async (headers: Record<string, string>) => {
        const authorization = `Bearer ${app.jwt.sign({ sub: '1' }, { expiresIn: '1h' })}`
        const answer = await app.inject({ url: '/api/v1/decorations', headers: { authorization, ...headers } })
        const body: unknown = answer.payload === '' ? null : answer.json()
        return { status: answer.statusCode, headers: answer.headers, body, etag: String(answer.headers.etag) }
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

      t.match((await operator('PUT', '/admin/v1/decorations/1', { name: 'Rosebud' })).body, {
        data: { name: 'Rosebud' },
      })
      t.match(
        (await list({ lang: 'ar' })).body,
        { data: [{ name: 'Crown' }, { name: 'Rosebud' }] },
        'one name for all again',
      )
    },
  )

  await t.test('names of packages and countries', async (t) => {
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
    const [card] = Object((await user(1)('GET', '/v1/privilege-wallet')).body).data
    await operator('PUT', '/admin/v1/users/4', {
      charging_agent: 1,
      allow_receive_withdraw_requests: 1,
      agency_countries: [{ country_id: 1 }],
    })
    await operator('POST', '/admin/v1/users/1/credits', { currency: 'dollars', amount: 90, reason: 'test' })
    const amount = { amount_in_dollars: 1, country_id: 1 }
    const withdrawal = { type: 'gold_agent', target_user_id: 4, beneficiary_user_id: 1, ...amount }
    const requests = '/api/v1/agency/target-withdraw-requests'
    t.match(await user(1)('POST', `${requests}/request?lang=ar`, withdrawal), {
      status: 201,
      body: { data: { country: { id: 1, name: egypt.ar } } },
    })
    await operator('PUT', '/admin/v1/decorations/3', { name: rose, kind: 'standard', price: 100 })
    await operator('POST', '/admin/v1/users/1/bag', { decoration_id: 3, quantity: 2, reason: 'test' })
    for (const lang of ['en', 'ar'] as const) {
      const read = async (url: string) => Object((await user(1)('GET', `${url}?lang=${lang}`)).body).data
      const country = { id: 1, name: egypt[lang] }
      t.match(await read('/v1/privilege-wallet'), [{ privilege_package_name: gold[lang] }])
      t.match(await read('/api/v1/countries'), [country])
      t.match(await read('/api/v1/privilege-packages'), [{ name: gold[lang] }])
      t.match(await read(`${requests}/charging-agents`), [{ countries: [country] }])
      t.match(await read(requests), [{ country }])
      t.match(await read('/api/v1/bag'), [{ name: rose[lang], quantity: 2 }])
    }
    await user(1)('POST', `/v1/privilege-wallet/${card.id}/activate`)
    for (const lang of ['en', 'ar'] as const) {
      t.match(await user(1)('GET', `/api/v1/wallet?lang=${lang}`), {
        body: { data: { privilege: { name: gold[lang] }, bag: [{ name: rose[lang] }] } },
      })
    }
    t.match(await operator('PUT', '/admin/v1/countries/2?lang=ar', { name: { en: 'Iraq' } }), {
      status: 422,
      body: { errors: { 'name.ar': ['هذا الحقل مطلوب.'] } },
    })
    t.match(await operator('PUT', '/admin/v1/countries/2?lang=ar', { name: 7 }), {
      status: 422,
      body: { errors: { name: ['يجب أن تكون القيمة اسمًا، أو كائنًا فيه الاسمان en وar.'] } },
    })
  })
})
