import { test } from 'tap'
import { changed, tamper } from '../audit/verify-database.ts'
import { agencyApp, cash, dataOf, requests } from '../features/agency/agency-fixture.ts'
import { ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { idsIn, textOf } from './page-texts.ts'

test('who of the staff did what, and ending their sessions', async (t) => {
  const { app, user, operator } = await agencyApp(t)
  const ann = await signedIn(app)
  const bob = await signedIn(app, 'operator', 'bob')
  const finance = await signedIn(app, 'finance', 'eve')
  await operator('POST', '/admin/v1/users/9/credits', { currency: 'coins', amount: 7, reason: '=cmd()' })
  const { id } = dataOf(await user(1)('POST', `${requests}/request`, cash))
  const decided = await bob.submit(`/console/withdrawals/${id}`, `/console/withdrawals/${id}/status`, {
    note: '=cmd()',
  })
  t.equal(decided.status, 303)

  await t.test('newest first, with reasons and notes', async (t) => {
    const { status, html } = await finance.get('/console/staff')
    t.equal(status, 200)
    t.match(textOf(html), /bob withdrawal approved Withdrawal \d+ 20\.00/)
    t.match(textOf(html), /ann balance credited user:9:coins 7 coins/)
    t.equal(html.split('=cmd()').length, 3)
    const positions = idsIn(html, 'events')
    t.same(
      positions,
      positions.toSorted((a, b) => b - a),
    )
    t.match(html, `/console/withdrawals/${id}`)
    t.notMatch(html, 'end-sessions')
  })

  await t.test('filtered by staff and time', async (t) => {
    const list = async (query: string) => idsIn((await ann.get(`/console/staff${query}`)).html, 'events')
    const all = await list('')
    const [approval = 0, credit = 0] = all
    t.same(await list('?sub=bob&from=&to='), [approval])
    t.equal((await list('?sub=ann')).length, all.length - 1)
    t.same(await list(`?from=${credit}`), [approval, credit])
    t.same(await list(`?from=${credit}&to=${credit}`), [credit])
    t.same(await list(`?at=${credit}&from=${credit}`), [credit])
    t.match((await ann.get('/console/staff?sub=nobody')).html, 'No member of staff did anything here')
  })

  await t.test('exports have what the page shows', async (t) => {
    const csv = (await ann.get('/console/staff/export.csv?sub=bob')).html
    t.match(csv, /,withdrawal approved,Withdrawal \d+,20\.00,/)
    t.match(csv, "'=cmd()")
    const lines = (await ann.get('/console/staff/export.jsonl?sub=bob')).html.trim().split('\n')
    t.match(JSON.parse(lines[0] ?? ''), { staff: 'bob', reason: '=cmd()', amount: '20.00' })
    await operator('POST', '/admin/v1/users/9/credits', { currency: 'agent_dollars', amount: 1, reason: 'r' })
    const newest = (await ann.get('/console/staff/export.jsonl')).html.split('\n')[0] ?? ''
    t.match(JSON.parse(newest), { currency: 'agent_dollars' }, 'the word, as filters have it')
  })

  await t.test('sessions are ended after a review, and no earlier token begins another', async (t) => {
    const token = app.jwt.sign(
      { sub: 'Mallory', role: 'finance', iat: Math.floor(Date.now() / 1_000) - 5 },
      { expiresIn: '1h' },
    )
    const mallory = new ConsoleBrowser(app)
    t.equal((await mallory.submit('/console/login', '/console/login', { token })).status, 303)
    t.equal((await mallory.get('/console/staff')).status, 200)
    const review = '/console/staff/end-sessions?sub=mallory'
    const { html } = await ann.get(review)
    t.match(textOf(html), /Last action none .*Sessions last ended —/)
    t.match((await ann.get('/console/staff/end-sessions?sub=ann')).html, 'These are your own sessions')
    const ended = await ann.submit(review, '/console/staff/end-sessions')
    t.equal(ended.headers['location'], '/console/staff?sub=ann')
    t.equal((await mallory.get('/console/staff')).status, 303)
    const again = await mallory.submit('/console/login', '/console/login', { token })
    t.match(again.html, 'has expired or was ended')
    t.match(textOf((await ann.get('/console/staff')).html), /The sessions were ended\..* Staff mallory/)
    t.equal((await ann.get('/console/staff/end-sessions?sub=%3Cb%3E..%2F')).status, 200)
  })
})

test('acts lead to what they are about, and one whose data was tampered with is still listed', async (t) => {
  const { app, operator, database } = await createTestApp(t)
  const ann = await signedIn(app)
  await operator('PUT', '/admin/v1/decorations/3', { name: 'Rose', kind: 'standard', price: 1 })
  await operator('PUT', '/admin/v1/privilege-packages/4', { name: 'Gold', rank: 1, valid_days: 1 })
  await operator('PUT', '/admin/v1/releases/ios', { version: '1.0', store_link: 'https://store.test' })
  const { html } = await ann.get('/console/staff')
  for (const path of ['gifts/3', 'packages/4', 'releases/ios']) {
    t.match(html, `<a href="/console/catalogue/${path}"`)
    t.equal((await ann.get(`/console/catalogue/${path}`)).status, 200)
  }
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('POST', '/admin/v1/users/7/bag', { decoration_id: 3, quantity: 40, reason: 'a prize' })
  await operator('POST', '/admin/v1/users/7/cards', { privilege_package_id: 4, quantity: 1, reason: 'a prize' })
  const grants = textOf((await ann.get('/console/staff')).html)
  t.match(grants, /bag items added User 7 , Gift 3 40 bag a prize/)
  t.match(grants, /card granted User 7 , Package 4 1 cards a prize/)
  const [newest = 0, ...others] = idsIn((await ann.get('/console/staff')).html, 'events')
  const gift = others.at(-1) ?? 0
  t.match((await ann.get(`/console/events/${gift}`)).html, '<a href="/console/catalogue/gifts/3"')

  await tamper(database, changed(newest, `data = '{'`))
  for (const query of ['', '?sub=ann']) {
    const tampered = await ann.get(`/console/staff${query}`)
    t.equal(tampered.status, 200)
    t.same(idsIn(tampered.html, 'events'), [newest, ...others])
  }
})

test('what was proposed, decided, and done by an approval is said', async (t) => {
  const limits = { coins: 100 }
  const { app, operator } = await createTestApp(t, { approvalLimits: limits })
  await operator('POST', '/admin/v1/users', { users: [{ id: 3, uid: 'u3', name: 'Carmen', avatar: 'a/3.png' }] })
  const propose = async (amount: string) =>
    Object(
      dataOf(
        await operator('POST', '/admin/v1/users/3/credits', { currency: 'dollars', amount, reason: 'prize of May' }),
      ),
    ).id
  const first = await propose('229.50')
  const second = await propose('100')
  await operator('POST', '/admin/v1/users/3/credits', { currency: 'coins', amount: 7, reason: 'small' })
  const ben = await signedIn(app, 'operator', 'ben')
  await ben.submit(`/console/proposals/${first}`, `/console/proposals/${first}/approve`, { note: 'seen the bill' })
  await ben.submit(`/console/proposals/${second}`, `/console/proposals/${second}/reject`, { note: 'twice' })

  const { html } = await ben.get('/console/staff')
  const text = textOf(html).replaceAll(' ,', ',')
  t.match(text, `ben proposal approved Proposal ${first}, credit to Carmen (3) 229.50 dollars seen the bill`)
  t.match(text, `ben proposal rejected Proposal ${second}, credit to Carmen (3) 100.00 dollars twice`)
  t.match(text, `ann balance credited, approved by ben user:3:dollars, Proposal ${first} 229.50 dollars prize of May`)
  t.match(text, `ann proposal made Proposal ${second}, credit to Carmen (3) 100.00 dollars prize of May`)
  t.match(text, /ann counted against the limit for acting alone Event \d+ 7 coins/)
  t.match(html, `<a href="/console/proposals/${first}"`)
  t.match(html, '<a href="/console/users/3"')
  t.match(html, '<a href="/console/staff?sub=ben"')
  const csv = (await ben.get('/console/staff/export.csv')).html
  t.match(csv, `,proposal approved,"Proposal ${first}, credit user:3",229.50,dollars,seen the bill,`)
  t.match(csv, `,"balance credited, approved by ben","user:3:dollars, Proposal ${first}",229.50,dollars,`)
})
