import { createHash } from 'node:crypto'
import { test } from 'tap'
import type { ApprovalLimits } from '../../src/features/proposals/covered-verb.ts'
import { cash, dataOf, requests } from '../features/agency/agency-fixture.ts'
import { signedIn, unescaped } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { csrfOf, nextOf, textOf } from './page-texts.ts'

/** An app whose staff need a colleague beyond these limits. */
async function appWithLimits(t: Parameters<typeof createTestApp>[0], limits: ApprovalLimits) {
  return createTestApp(t, { approvalLimits: limits })
}

test('a proposal is shown with what it moves, refused to its maker, and approved by another', async (t) => {
  const { app, operator } = await appWithLimits(t, { coins: 100 })
  const ann = await signedIn(app, 'operator', 'ann')
  const ben = await signedIn(app, 'operator', 'ben')
  const finance = await signedIn(app, 'finance', 'fin')
  const empty = textOf((await ann.get('/console/proposals')).html)
  t.match(empty, 'No proposal.')
  t.match(unescaped(empty), "Not covered: the rest of the catalogue, flags, an agent's own rate, withdrawals.")
  t.match(empty, 'What one member of staff may move alone in 24 hours: 100 coins.')
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  const proposed = await operator('POST', '/admin/v1/users/7/credits', {
    currency: 'dollars',
    amount: '229.50',
    reason: 'prize',
  })
  t.equal(proposed.status, 202)
  const { id, version } = Object(proposed.body).data
  const address = `/console/proposals/${id}`

  const list = await ben.get('/console/proposals?status=open')
  t.match(list.html, `href="${address}"`)
  const csv = await ben.get('/console/proposals/export.csv?status=open')
  t.match(csv.html, /^id,status,action/)
  t.match(csv.html, 'staff:ann')
  t.match(csv.html, '229.50')

  const { html: found } = await ben.get(`/console/search?q=${id}`)
  t.match(found, `<a href="${address}"><bdi>Proposal ${id}</bdi></a>`)
  t.match(found, 'credit · 229.50 dollars · user:7 · open')
  t.match(found, `href="/console/events/${id}"`)
  t.equal((await ben.get(`/console/search?q=proposal+${id}`)).headers['location'], address)

  const shown = await ben.get(address)
  t.match(shown.html, '−229.50', 'the account of issues after the credit')
  t.match(shown.html, '+229.50', "the change of the user's balance")
  t.match(shown.html, '<dd><a href="/console/staff?sub=ann"><code><bdi>staff:ann</bdi></code></a></dd>')
  t.match(shown.html, 'user:7:dollars')
  t.notMatch(shown.html, '<dt>Decided by</dt>', 'nobody decided yet')
  t.match(shown.html, `action="${address}/approve"`)
  t.match((await ann.get(address)).html, 'Only another member of staff may approve it')
  t.notMatch((await ann.get(address)).html, `action="${address}/approve"`)
  t.notMatch((await finance.get(address)).html, 'method="post" action="/console/proposals')
  for (const sub of ['Ann', ' ann ']) {
    const { html } = await (await signedIn(app, 'operator', sub)).get(address)
    t.match(html, 'You made this proposal', `${sub} is ann, written otherwise`)
    t.notMatch(html, `action="${address}/approve"`)
  }

  const csrf = csrfOf(await ann.get(address))
  const byMaker = await ann.post(`${address}/approve`, { _csrf: csrf, key: 'a key', expects: version })
  t.equal(byMaker.status, 403)

  for (const verb of ['approve', 'reject']) {
    const refused = await ben.submit(address, `${address}/${verb}`, { note: 'seen\tby <ben>' })
    t.equal(refused.status, 422, verb)
    t.match(refused.html, /<p class="alert" role="alert">.* The value must be text without .*<\/p>/)
    t.match(refused.html, new RegExp(`id="${verb}-note"[^>]* value="seen\tby &lt;ben&gt;"`))
  }

  const approved = await ben.submit(address, `${address}/approve`, { note: 'checked' })
  t.equal(approved.status, 303)
  t.equal(approved.headers['location'], address)
  const after = await ben.get(address)
  t.match(after.html, 'Approved, and done.')
  t.match(after.html, 'checked')
  t.match(after.html, '<dt>Decided by</dt>')
  t.notMatch(after.html, `action="${address}/`)
  const late = await ann.post(`${address}/reject`, { _csrf: csrf, key: 'another key', expects: version })
  t.equal(late.status, 422)
  t.match(textOf(late.html), 'Decided by', 'it says how it ended')

  const file = await operator('POST', '/admin/v1/salary-deposits', {
    period: '2026-10',
    deposits: [
      { user_id: 7, dollars: 1, agent_dollars: 0 },
      { user_id: 999, dollars: 1, agent_dollars: 0 },
    ],
  })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'agent_dollars', amount: 1, reason: 'r' })
  const rows = (await ben.get('/console/proposals/export.jsonl')).html.trim().split('\n')
  t.match(JSON.parse(rows[0] ?? ''), { action: 'salary_file' }, 'the soonest to end first')
  t.match(JSON.parse(rows[1] ?? ''), { action: 'credit', currency: 'agent_dollars' }, 'as filters have them')
  const page = (await ben.get(`/console/proposals/${Object(file.body).data.id}`)).html
  t.match(page, 'Rows that an approval would not pay now')
  t.match(page, /href="\/console\/users\/999"[\s\S]*unknown user/i)
  t.notMatch(shown.html, 'would not pay', 'only of a salary file')
})

test('what waits comes first, and a list that is pinned shows the statuses of then', async (t) => {
  const { app, operator, database } = await appWithLimits(t, { coins: 100 })
  const ben = await signedIn(app, 'operator', 'ben')
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  const propose = async (): Promise<number> =>
    Object(
      dataOf(await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 500, reason: 'prize' })),
    ).id
  const [first, second, third] = [await propose(), await propose(), await propose()]
  const rows = async (query: string) =>
    (await ben.get(`/console/proposals/export.jsonl${query}`)).html
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Record<string, string | null> => JSON.parse(line))
  const list = async (query: string) => (await rows(query)).map(({ id, status }) => `${id} ${status}`)

  t.same(await list(''), [`${first} open`, `${second} open`, `${third} open`], 'the first to end first')
  t.match((await ben.get('/console/proposals')).html, /<th scope="col">Ends<\/th>/)
  t.match((await rows(''))[0], { expires_at: /^\d{4}-\d\d-\d\dT/, decided_at: null, decided_by: null, amount: '500' })
  await ben.submit(`/console/proposals/${first}`, `/console/proposals/${first}/approve`)
  await ben.submit(`/console/proposals/${second}`, `/console/proposals/${second}/reject`)
  t.same(await list(''), [`${third} open`])
  t.same(await list('?status=all'), [`${third} open`, `${second} rejected`, `${first} approved`])
  t.same(await list('?status=rejected'), [`${second} rejected`])

  t.same(await list(`?at=${third}`), [`${first} open`, `${second} open`, `${third} open`], 'before both decisions')
  t.same(await list(`?at=${third}&status=approved`), [])
  t.match((await rows(`?at=${third}`))[0], { decided_by: null, decided_at: null })
  t.same(await list(`?at=${third + 1}&status=all`), [`${third} open`, `${second} open`, `${first} approved`])
  t.same(await list(`?at=${second}&status=all`), [`${second} open`, `${first} open`])

  await queryRows(database, `update proposals set expires_at = now() where proposal_id = ${third}`)
  t.same(await list(''), [], 'its time is over')
  t.same(await list('?status=expired'), [`${third} expired`])
  t.match(await rows('?status=expired'), [{ decided_by: 'system', decided_at: String }])
})

test('the pages of a salary file of a thousand rows are short, and lead to all of it', async (t) => {
  const { app, operator } = await appWithLimits(t, { coins: 100 })
  const ids = Array.from({ length: 1_000 }, (_, i) => i + 1)
  await operator('POST', '/admin/v1/users', { users: ids.slice(0, 500).map((id) => ({ id })) })
  await operator('POST', '/admin/v1/users', { users: ids.slice(500, 900).map((id) => ({ id })) })
  const deposits = ids.map((user_id) => ({ user_id, dollars: 1.25, agent_dollars: 2 }))
  const file = await operator('POST', '/admin/v1/salary-deposits', { period: '2026-10', deposits })
  t.equal(file.status, 202)
  const { id } = dataOf(file)
  const address = `/console/proposals/${id}`
  const ben = await signedIn(app, 'operator', 'ben')

  const weigh = async (path: string): Promise<number> => {
    const { status, html } = await ben.get(path)
    t.equal(status, 200, path)
    const assets = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, asset = '']) => asset)
    t.ok(assets.length > 0)
    const sizes = await Promise.all(
      [...new Set(assets)].map(async (url) => (await app.inject({ url })).rawPayload.length),
    )
    return sizes.reduce((sum, size) => sum + size, Buffer.byteLength(html))
  }
  const isLight = async (path: string): Promise<void> => {
    const bytes = await weigh(path)
    t.ok(bytes <= 150_000, `${path} weighs ${bytes} bytes`)
  }
  await isLight(address)
  await isLight(`/console/events/${id}`)

  const open = textOf((await ben.get(address)).html)
  t.match(open, '1,125.00 dollars, 1,800.00 agent dollars')
  t.match(open, 'The first 50 accounts')
  t.match(open, 'The first 50 of 100 rows')
  const listed = (await ben.get(`${address}/effects`)).html
  t.equal(listed.split('<tr>').length - 2, 50)
  const next = nextOf(listed)
  t.match((await ben.get(next)).html, 'user:25:agent_dollars')
  const csv = (await ben.get(`${address}/effects/export.csv`)).html
  t.equal(csv.trim().split('\r\n').length, 1_803)
  t.match(csv, /^account,before,change,after\r\n/)
  t.equal((await ben.get(`${address}/unpaid/export.csv`)).html.trim().split('\r\n').length, 101)

  t.equal((await ben.submit(address, `${address}/approve`)).status, 303)
  await isLight(address)
  const decided = Number(
    /<a href="\/console\/events\/(\d+)"[^>]*><time[^>]*>[^<]*<\/time><\/a>\s*<\/dd><\/div>\s*<div[^>]*><dt>Note/.exec(
      (await ben.get(address)).html,
    )?.[1],
  )
  for (const position of [decided - 1, decided, decided + 1, decided + 500])
    await isLight(`/console/events/${position}`)
  const { html } = await ben.get(`/console/events/${decided}`)
  t.match(html, `data-address="/console/events/${decided}/hashed.txt"`)
  t.match(textOf(html), 'There are more: all events of this request')
  const { html: bytes } = await ben.get(`/console/events/${decided}/hashed.txt`)
  const hash = /data-hash="([0-9a-f]{64})"/.exec(html)?.[1]
  t.equal(createHash('sha256').update(bytes).digest('hex'), hash, 'what the browser is led to has the stored hash')
})

test('a review says that beyond the limit there will be a proposal', async (t) => {
  const limits = { coins: 100, cards: 2, bag: 20 }
  const { app, operator } = await appWithLimits(t, limits)
  const ann = await signedIn(app, 'operator', 'ann')
  const ben = await signedIn(app, 'operator', 'ben')
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 1 })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 5 })
  const user = '/console/users/7'
  const credit = (amount: number) => `${user}/credit?review=1&currency=coins&amount=${amount}&reason=r`
  const within = await ann.get(credit(60))
  t.notMatch(within.html, 'becomes a proposal')
  t.match(within.html, 'Credit 60 coins</button>')
  const done = await ann.submit(credit(60), `${user}/credit`)
  t.equal(done.headers['location'], user)

  const beyond = await ann.get(credit(41))
  t.match(beyond.html, 'more than you may move alone in 24 hours: it becomes a proposal', 'with those of before')
  t.match(beyond.html, 'Propose to credit 41 coins</button>')
  t.match(textOf(beyond.html), 'What Now Once approved')
  t.notMatch(beyond.html, 'Nothing has changed yet')
  t.match((await ann.get(credit(40))).html, 'Credit 40 coins</button>')
  const sameAnn = await signedIn(app, 'operator', 'Ann')
  t.match((await sameAnn.get(credit(41))).html, 'Propose to credit', 'however her name is written')
  t.match((await ben.get(credit(41))).html, 'Credit 41 coins</button>', 'the limit is that of each')
  const proposed = await ann.submit(credit(41), `${user}/credit`)
  t.match(proposed.headers['location'], /^\/console\/proposals\/\d+$/)

  for (const [path, query, button] of [
    ['debit', 'currency=coins&amount=50&reason=r', 'Propose to debit 50 coins'],
    ['grant-cards', 'privilege_package_id=1&quantity=2&reason=r', 'Grant 2 cards'],
    ['grant-cards', 'privilege_package_id=1&quantity=3&reason=r', 'Propose to grant 3 cards'],
    ['add-to-bag', 'decoration_id=1&quantity=4&reason=r', 'Add 4 gifts'],
    ['add-to-bag', 'decoration_id=1&quantity=5&reason=r', 'Propose to add 5 gifts'],
    ['flags', 'charging_agent=1', 'Change the flags'],
  ] as const) {
    t.match((await ann.get(`${user}/${path}?review=1&${query}`)).html, `${button}</button>`)
  }
  const worth = await ann.get(`${user}/add-to-bag?review=1&decoration_id=1&quantity=5&reason=r`)
  t.match(textOf(worth.html), 'Quantity 5 Worth in diamonds 25 Reason')

  for (const [path, query, text] of [
    ['grant-cards', 'privilege_package_id=1&quantity=3&reason=r', 'Package Gold (1) Rank 1 Days of each card 1'],
    ['add-to-bag', 'decoration_id=1&quantity=5&reason=r', 'Gift Rose (1) Price of each 5 diamonds'],
  ] as const) {
    const { headers } = await ann.submit(`${user}/${path}?review=1&${query}`, `${user}/${path}`)
    t.match(textOf((await ben.get(String(headers['location']))).html), text, 'who approves sees what is granted')
  }
  const { body } = await operator('GET', '/admin/v1/proposals?status=open&limit=1')
  t.match(body, { data: [{ action: 'bag', amounts: [{ currency: 'bag', amount: 25 }] }] }, 'the worth of its review')
})

test('a proposal leads to its events, and they to it', async (t) => {
  const limits = { coins: 100 }
  const { app, operator, database } = await appWithLimits(t, limits)
  const ben = await signedIn(app, 'operator', 'ben')
  await operator('POST', '/admin/v1/users', { users: [{ id: 3, uid: 'u3', name: 'Carmen', avatar: 'a/3.png' }] })
  const proposed = (amount: string) =>
    operator('POST', '/admin/v1/users/3/credits', { currency: 'dollars', amount, reason: 'prize' })
  const approved = Object((await proposed('229.50')).body).data.id
  const rejected = Object((await proposed('1')).body).data.id
  t.notMatch((await ben.get(`/console/proposals/${approved}`)).html, 'Done by')
  const first = `/console/proposals/${approved}`
  await ben.submit(first, `${first}/approve`)
  await ben.submit(`/console/proposals/${rejected}`, `/console/proposals/${rejected}/reject`)
  const rows = await queryRows(database, 'select position, type from ledger order by position')
  const [decision = 0, rejection = 0] = rows
    .filter(({ type }) => type === 'proposal-decided')
    .map(({ position }) => Number(position))

  await t.test('of its decision and of its effect', async (t) => {
    const { html } = await ben.get(first)
    t.match(html, new RegExp(`<dt>Decided</dt><dd><a href="/console/events/${decision}">`))
    t.match(html, `<dt>Done by</dt><dd><a href="/console/events/${decision + 1}"><bdi>event ${decision + 1}</bdi></a>`)
    const other = (await ben.get(`/console/proposals/${rejected}`)).html
    t.match(other, new RegExp(`<dt>Decided</dt><dd><a href="/console/events/${rejection}">`))
    t.notMatch(other, 'Done by')
  })

  await t.test('which say what they belong to, and what was written with them', async (t) => {
    const link = `<a href="/console/proposals/${approved}">proposal ${approved}`
    for (const [position, text] of [
      [approved, `${link}, made by this event</a>`],
      [decision, `${link}</a>`],
      [decision + 1, `${link}</a>`],
    ] as const) {
      t.match((await ben.get(`/console/events/${position}`)).html, text, `event ${position}`)
    }
    for (const position of [decision, decision + 1]) {
      const { html } = await ben.get(`/console/events/${position}`)
      t.notMatch(html, 'wrote only this event')
      const together = [...html.matchAll(/<td><a href="\/console\/events\/(\d+)">/g)].map(([, shown]) => Number(shown))
      t.same(together, [decision, decision + 1])
    }
    t.match((await ben.get(`/console/events/${rejection}`)).html, 'wrote only this event')
  })

  await t.test('with amounts as people write them beside the data', async (t) => {
    const made = textOf((await ben.get(`/console/events/${approved}`)).html)
    t.match(made, /amounts \[.*\] , 229\.50 dollars/)
    t.match(made, /input \{.*22950.*\} , 229\.50 dollars/)
    const decided = textOf((await ben.get(`/console/events/${decision}`)).html)
    t.match(decided, 'user:3:dollars from 0.00 to 229.50')
  })
})

test('a proposal says what it asks for, for whom, and what is on hold', async (t) => {
  const { app, operator, user } = await appWithLimits(t, { dollars: 10_000 })
  const ben = await signedIn(app, 'operator', 'ben')
  const finance = await signedIn(app, 'finance', 'fin')
  await operator('PUT', '/admin/v1/countries/1', { name: 'Country 1' })
  await operator('POST', '/admin/v1/users', {
    users: [
      { id: 3, uid: 'u3', name: 'Carmen', avatar: 'a/3.png' },
      { id: 4, uid: 'u4', name: '<b>Dora', avatar: 'a/4.png' },
      { id: 7, uid: 'u7', name: 'Manager', avatar: 'a/7.png', business_manager: 1 },
    ],
  })
  const credit = (id: number, amount: string) =>
    operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'dollars', amount, reason: 'prize' })
  t.equal((await credit(3, '90')).status, 201)
  const address = `/console/proposals/${dataOf(await credit(3, '229.50')).id}`
  const other = `/console/proposals/${dataOf(await credit(4, '229.50')).id}`
  t.notMatch((await ben.get(address)).html, 'On hold')
  t.equal((await user(3)('POST', `${requests}/request`, cash)).status, 201)

  for (const browser of [ben, finance]) {
    const { html } = await browser.get(address)
    t.match(html, '<h1>Credit 229.50 dollars to Carmen (3)</h1>')
    t.match(textOf(html), 'On hold Can be spent before Can be spent after')
    t.match(textOf(html), 'user:3:dollars 90.00 +229.50 319.50 20.00 70.00 299.50')
  }
  t.match((await finance.get(address)).html, 'Only an operator can decide this.')
  t.notMatch((await ben.get(address)).html, 'Only an operator can decide this.')
  t.match((await ben.get(other)).html, '<h1>Credit 229.50 dollars to &lt;b&gt;Dora (4)</h1>')
  const list = textOf((await ben.get('/console/proposals')).html)
  t.match(list, 'open credit Carmen (3) 229.50')
  t.match(list, 'open credit &lt;b&gt;Dora (4) 229.50')
  t.match((await ben.get('/console/proposals/export.csv')).html, ',open,credit,user:3,229.50,')

  await ben.submit(address, `${address}/approve`)
  t.match(textOf((await ben.get(address)).html), 'user:3:dollars 90.00 +229.50 319.50 20.00 70.00 299.50')
  t.notMatch((await finance.get(address)).html, 'Only an operator can decide this.')
})
