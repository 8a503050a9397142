import { test } from 'tap'
import { eraseProfile } from '../../src/erasure/erase-profile.ts'
import { type ConsoleBrowser, type ConsolePage, signedIn } from '../harness/app/console-session.ts'
import { createDemoApp } from '../harness/app/demo-app.ts'
import type { SendRequest, TestResponse } from '../harness/app/test-app.ts'
import { hiddenFieldsOf, nextOf } from './page-texts.ts'

test('users on the console', async (t) => {
  const { app, ledger, operator, user } = await createDemoApp(t)
  const browser = await signedIn(app)
  const finance = await signedIn(app, 'finance', 'fay')

  await t.test('finding users', async (t) => {
    const shown = async (query: string) => rowsOf(await ok(browser.get(`/console/users${query}`)))
    t.equal((await shown('')).length, 5)
    t.match(await shown('?q=3'), [/Carmen/], 'by id')
    t.match(await shown('?q=AMINA'), [/Amina/], 'by uid')
    t.match(await shown('?q=ca'), [/Carmen/], 'by the beginning of a name')
    t.match(await shown('?role=charging_agent'), [/Dalia.*charging agent, receives requests/s])
    t.match(await shown('?role=business_manager'), [/Emil/])
    t.match(await shown('?country=2'), [/Dalia/])
    t.same(await shown('?country=99'), [])
    t.match((await browser.get('/console/users?q=nobody')).html, 'No user fits these filters')
    t.same(await shown('?at=1'), [], 'before anybody was announced')
  })

  const pending = await request(user(1), '50.25')
  const other = await request(user(1), '20.00')
  await created(operator('POST', `/admin/v1/withdrawals/${other}/status`, { status: 'approved' }))

  await t.test('why a user can spend what they can', async (t) => {
    const { html } = await ok(browser.get('/console/users/1'))
    t.match(html, 'Why can Amina spend 179.75 dollars?', '250 less 20 that were paid out and 50.25 on hold')
    t.match(html, `href="/console/withdrawals/${pending}"`)
    t.notMatch(html, `Less cash withdrawal ${other}`, 'an approved one is no hold')
    t.match(html, 'Where target points come from')
    t.match(html, 'href="/console/accounts/user:1:dollars"')
    const explained = await ok(browser.get('/console/users/1/balances/dollars'))
    t.match(text(explained), /Balance 230\.00 On hold 50\.25 Can be spent 179\.75/)
    t.match(rowsOf(explained).join('\n'), /balance credited.*issuance:operator.*250\.00/s)
    t.match(rowsOf(explained).join('\n'), /withdrawal status changed.*−20\.00/s)
    t.notMatch(explained.html, 'do not sum up')
    const received = await ok(finance.get('/console/users/5/withdrawals?direction=received&status=pending'))
    t.match(rowsOf(received), [/Amina/], 'from the side of the manager')
    t.equal(rowsOf(await ok(browser.get('/console/users/1/withdrawals'))).length, 2)
  })

  await t.test('an act is reviewed, then done once', async (t) => {
    const review = '/console/users/2/credit?review=1&currency=coins&amount=1200&reason=a%20%3Cb%3E%20prize'
    const page = await ok(browser.get(review))
    t.match(rowsOf(page), [/user:2:coins 50,000 51,200/, /issuance:operator:coins −150,000 −151,200/])
    t.match(page.html, 'a &lt;b&gt; prize')
    t.match(page.html, 'Credit 1,200 coins</button>')
    t.match((await ok(browser.get('/console/users/2'))).html, '50,000', 'a review changes nothing')
    const done = await browser.submit(review, '/console/users/2/credit')
    t.equal(done.headers['location'], '/console/users/2')
    t.match((await ok(browser.get('/console/users/2'))).html, 'The balance was credited.')
    t.match(
      rowsOf(await ok(browser.get('/console/users/2/history?currency=coins')))[0] ?? '',
      /coins 1,200 51,200 issuance/,
    )

    const fields = formOf(await ok(browser.get(review)))
    await browser.post('/console/users/2/credit', fields)
    await browser.post('/console/users/2/credit', fields)
    t.match(
      rowsOf(await ok(browser.get('/console/users/2/history?currency=coins')))[0] ?? '',
      /52,400/,
      'sent twice, done once',
    )
  })

  await t.test('each act does what its review says', async (t) => {
    const acts = [
      ['debit', 'currency=diamonds&amount=7&reason=r', /user:2:diamonds 20,000 19,993/, 'The balance was debited.'],
      ['credit', 'currency=dollars&amount=1.5&reason=r', /user:2:dollars 0\.00 1\.50/, 'The balance was credited.'],
      [
        'grant-cards',
        'privilege_package_id=1&quantity=3&reason=r',
        /Stored cards \d+ \d+/,
        'The cards are in the wallet.',
      ],
      ['add-to-bag', 'decoration_id=1&quantity=4&reason=r', /In the bag: Rose 0 4/, 'The gifts are in the bag.'],
      ['flags', 'charging_agent=1&business_manager=0', /Charging agent no yes/, 'The user was changed.'],
      ['end-sessions', '', /issued before — the moment you confirm/, 'All sessions of the user were ended.'],
    ] as const
    for (const [path, query, changes, message] of acts) {
      const address = `/console/users/2/${path}`
      const review = query === '' ? address : `${address}?review=1&${query}`
      t.match(rowsOf(await ok(browser.get(review)))[0] ?? '', changes, path)
      const done = await browser.submit(review, address)
      t.equal(done.headers['location'], '/console/users/2', path)
      t.match((await ok(browser.get('/console/users/2'))).html, message)
    }
    const { html } = await ok(browser.get('/console/users/2'))
    t.match(text({ html }), /Charging agent yes/)
    t.match(text({ html }), /Rose 4/)
    t.equal((await user(2, 60)('GET', '/api/v1/wallet')).status, 440, 'older tokens are refused')
    const events = await operator('GET', '/admin/v1/ledger/events?type=sessions-revoked')
    t.match(events.body, { data: [{ actor: 'staff:ann' }] })
  })

  await t.test('flags change as the review says, and not over what a colleague changed', async (t) => {
    const address = '/console/users/3/flags'
    t.match(
      text(await ok(browser.get(address))),
      /One operator alone changes the rest of the catalogue, flags of users/,
    )
    const review = `${address}?review=1&charging_agent=1&business_manager=0&allow_receive_withdraw_requests=0`
    const page = await ok(browser.get(review))
    t.match(text(page), /One operator alone changes the rest of the catalogue, flags of users/)
    const fields = formOf(page)
    t.same(Object.keys(fields).toSorted(), ['_csrf', 'charging_agent', 'expects', 'key'], 'what changes alone is sent')
    await operator('PUT', '/admin/v1/users/3', { business_manager: 1 })
    const refused = await browser.post(address, fields)
    t.equal(refused.status, 412)
    t.match(refused.html, 'Somebody changed this user after your review.')
    t.match(refused.html, /field-business_manager"[^]*?<option value="1" selected>/, 'the form shows what is there now')
    const flags = async () => Object((await operator('GET', '/admin/v1/users/3')).body).data
    t.match(await flags(), { charging_agent: 0, business_manager: 1 })
    const again = `${address}?review=1&charging_agent=1&business_manager=1`
    t.equal((await browser.submit(again, address)).status, 303)
    t.match(await flags(), { charging_agent: 1, business_manager: 1 })
  })

  await t.test('faults stand on the form, beside what was typed', async (t) => {
    const faults = [
      ['credit', 'currency=gold&amount=1&reason=r', 'Choose one of the currencies'],
      ['credit', 'currency=coins&amount=1.5&reason=r', 'The value must be an integer'],
      ['credit', 'currency=coins&amount=-1&reason=r', 'The value must be an integer'],
      ['credit', 'currency=dollars&amount=1.234&reason=r', 'must be dollars'],
      ['credit', 'currency=coins&amount=5', 'Say why'],
      ['credit', 'currency=coins&amount=9007199254740991&reason=r', 'No balance can be that large'],
      [
        'debit',
        'currency=dollars&amount=200&reason=r',
        'At most 179.75 dollars can be taken: 50.25 dollars are on hold',
      ],
      ['grant-cards', 'privilege_package_id=77&quantity=1&reason=r', 'Choose one of the packages'],
      ['grant-cards', 'privilege_package_id=1&quantity=1001&reason=r', 'from 1 to 1,000'],
      ['add-to-bag', 'decoration_id=77&quantity=0&reason=r', 'Choose one of the gifts'],
      ['flags', 'charging_agent=0', 'Nothing would change'],
    ]
    for (const [path = '', query = '', message = ''] of faults) {
      const page = await browser.get(`/console/users/1/${path}?review=1&${query}`)
      t.equal(page.status, 422, query)
      t.match(page.html, message)
      t.match(page.html, 'Review</button>')
    }
    // What only the route refuses.
    const control = await ok(browser.get('/console/users/1/credit?review=1&currency=coins&amount=5&reason=a%09b'))
    const refused = await browser.post('/console/users/1/credit', formOf(control))
    t.equal(refused.status, 422)
    t.match(refused.html, 'id="field-reason-error"')
    t.match(refused.html, 'name="amount" type="text" autocomplete="off" maxlength="32" value="5" required')
    const { key = '', _csrf = '' } = formOf(control)
    t.equal((await browser.post('/console/users/999/credit', { key, _csrf })).status, 404)
    t.equal((await browser.post('/console/users/1/credit', { _csrf })).status, 422, 'without its key')
  })

  await t.test('what a user did and has, part by part', async (t) => {
    const one = user(1)
    const cards = await one('GET', '/api/v1/privilege-wallet')
    const [card] = Object(cards.body).data
    await created(one('POST', `/api/v1/privilege-wallet/${card.id}/activate`))
    await created(
      one('POST', '/v1/rooms/R1/games/roulette/create', { game_price: 100, max_players: 2, join_admin: true }),
    )
    const page = await ok(finance.get('/console/users/1'))
    t.match(text(page), /State active/)
    const parts = {
      history: /coins −100/,
      activations: /Gold 30 30 added days/,
      rooms: /Night lounge R1 member/,
      games: /seated —/,
      withdrawals: /cash pending 50\.25 dollars Emil \(5\)/,
      cards: /./,
      bag: /The bag is empty/,
      notifications: /withdrawal/i,
    }
    for (const [path, content] of Object.entries(parts)) {
      const part = await ok(finance.get(`/console/users/1/${path}`))
      t.match(text(part), content, path)
      t.match(page.html, `/console/users/1/${path}`)
      for (const file of ['export.csv', 'export.jsonl', 'export.json']) {
        t.equal((await finance.get(`/console/users/1/${path}/${file}`)).status, 200, `${path}/${file}`)
      }
      const about = JSON.parse((await ok(finance.get(`/console/users/1/${path}/export.json?at=0`))).html)
      const lines = (await ok(finance.get(`/console/users/1/${path}/export.csv?at=0`))).html.trim().split('\r\n')
      t.match([about.position, lines.length], [0, 1], `${path}: nothing before the first event`)
      const isOfNow = !['history', 'activations'].includes(path)
      t.equal('note' in about, isOfNow, path)
      const pinned = (await ok(finance.get(`/console/users/1/${path}?at=1`))).html
      t.equal(pinned.includes('Shown as it is now: only what came after event 1 is left out.'), isOfNow, path)
      // A user of whom nothing is known yet.
      t.match((await ok(finance.get(`/console/users/5/${path}?at=0`))).html, 'class="', path)
    }
  })

  await t.test('long lists are shown in part, and whole on pages that do not shift', async (t) => {
    const storedAtFirst = rowsOf(await ok(browser.get('/console/users/3/cards'))).length
    await created(
      operator('POST', '/admin/v1/users/3/cards', { privilege_package_id: 1, quantity: 120, reason: 'many' }),
    )
    t.equal(rowsOf(await ok(browser.get('/console/users/3'))).filter((row) => /Gold|Silver|Bronze/.test(row)).length, 8)
    const first = await ok(browser.get('/console/users/3/cards'))
    const next = nextOf(first.html)
    await created(operator('POST', '/admin/v1/users/3/cards', { privilege_package_id: 1, quantity: 5, reason: 'more' }))
    const second = await ok(browser.get(next))
    t.equal(new Set([...rowsOf(first), ...rowsOf(second)]).size, 100)
    const address = /href="([^"]+export\.csv[^"]*)"/.exec(second.html)?.[1] ?? ''
    const exported = await ok(browser.get(address))
    t.match(exported.html, /^card_id,package,/)
    t.equal(exported.html.trim().split('\r\n').length - 1 - storedAtFirst, 120, 'as of the same position')
  })

  await t.test('an erased person is shown as such', async (t) => {
    await created(operator('PUT', '/admin/v1/users/50', { name: 'Faris', uid: 'c50' }))
    const forget = { user_id: 50, new_uid: `forgotten-${'0'.repeat(32)}`, withdrawal_ids: [], devices: [] }
    await ledger.runOk(eraseProfile, forget, 'staff:ann')
    t.match(rowsOf(await ok(browser.get('/console/users?q=50'))), [/50 erased forgotten-/])
    const { html } = await ok(browser.get('/console/users/50'))
    t.match(html, 'Erased person 50')
    t.match(html, 'This person was erased')
  })
})

async function request(send: SendRequest, dollars: string): Promise<number> {
  const { body } = await created(
    send('POST', '/api/v1/agency/target-withdraw-requests/request', {
      type: 'cash',
      business_manager_id: 5,
      amount_in_dollars: dollars,
      country_id: 1,
      bank_details: { bank_name: 'Nile Bank', account_name: 'Amina', account_number: 'EG380019000500000000263180002' },
      payment_method: 'bank transfer',
    }),
  )
  return Object(body).data.id
}

async function created(response: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await response
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

async function ok(page: ReturnType<ConsoleBrowser['get']>): Promise<ConsolePage> {
  const answer = await page
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text(answer)}`)
  return answer
}

/** What is read of a page. */
const text = ({ html }: Pick<ConsolePage, 'html'>): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The rows of all tables of a page, as they are read. */
const rowsOf = ({ html }: ConsolePage): string[] =>
  [...html.matchAll(/<tr>\s*<td.*?<\/tr>/gs)].map(([row]) => text({ html: row }))

/** The fields of the form of an act. */
const formOf = ({ html }: ConsolePage) =>
  hiddenFieldsOf(/<form method="post"[^>]*class="action">.*/s.exec(html)?.[0] ?? '')
