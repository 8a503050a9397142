import { test } from 'tap'
import { appWithLedger, sidesOf, sumOf } from '../audit/routes/ledger-fixture.ts'
import { type ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'

const FORMULA = '=cmd()|a'

/** The cells of a table by its label, as text. */
function cellsOf(html: string, label: string): string[][] {
  const table = html.split(`aria-label="${label}"`)[1]?.split('</table>')[0] ?? ''
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)]
    .map(([, row = '']) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => textOf(cell)))
    .filter((row) => row.length > 0)
}

const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, '').trim()

/** Follows a table's pages; returns the rows of all. */
async function allRows(browser: ConsoleBrowser, url: string, label: string): Promise<string[][]> {
  const rows: string[][] = []
  for (let next: string | undefined = url; next !== undefined; ) {
    const { html } = await browser.get(next)
    rows.push(...cellsOf(html, label))
    next = /<a href="([^"]+)" rel="next">/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  return rows
}

const units = (text: string): bigint => BigInt(text.replaceAll(/[,.]/g, '').replace('\u2212', '-'))

test('accounts of the console', async (t) => {
  const opened = await appWithLedger(t)
  const { app, operator } = opened
  await operator('PUT', '/admin/v1/users/2', { uid: 'u2', name: 'Ben' })
  await operator('PUT', '/admin/v1/users/3', { uid: 'u3', name: FORMULA })
  const sides = await sidesOf(opened)
  const browser = await signedIn(app)

  await t.test('the list has every account that moved, with its balance and what is on hold of it', async (t) => {
    const rows = await allRows(browser, '/console/accounts', 'Accounts')
    const names = [...new Set(sides.map(({ account }) => account))].toSorted()
    t.same(
      rows.map(([account]) => account),
      names,
    )
    for (const [account = '', , , balance = '', held = '', available = ''] of rows) {
      t.equal(units(balance), sumOf(sides.filter((side) => side.account === account)), account)
      t.equal(units(available), units(balance) - units(held), account)
    }
    t.equal(rows.find(([account]) => account === 'user:1:dollars')?.[4], '20.00')
    t.equal(rows.find(([account]) => account === 'user:1:agent_dollars')?.[4], '5.50')
  })

  await t.test('filters and orders, and pages that do not shift', async (t) => {
    const users = await allRows(browser, '/console/accounts?kind=user&currency=diamonds&q=&sort=', 'Accounts')
    t.match(users, [['user:1:diamonds'], ['user:2:diamonds'], ['user:3:diamonds']])
    t.match((await browser.get('/console/accounts?sort=balance')).html, 'aria-sort="ascending"')
    const { html } = await browser.get('/console/accounts?q=1&kind=user')
    t.match(html, 'value="1"')
    t.match(html, '<option value="user" selected>')
    t.match((await browser.get('/console/accounts?q=nobody')).html, 'No account matches')
    const first = await browser.get('/console/accounts?kind=user')
    const [, link = ''] = /<a href="([^"]+)" rel="bookmark">/.exec(first.html) ?? []
    t.match(link, /^\/console\/accounts\?kind=user&amp;at=\d+$/)
    await operator('POST', '/admin/v1/users/2/credits', { currency: 'coins', amount: 7, reason: 'later' })
    const again = await browser.get(link.replaceAll('&amp;', '&'))
    t.same(cellsOf(again.html, 'Accounts'), cellsOf(first.html, 'Accounts'), 'a colleague sees the same')
    await operator('POST', '/admin/v1/users/2/debits', { currency: 'coins', amount: 7, reason: 'taken back' })
    t.same(cellsOf((await browser.get('/console/accounts?at=1')).html, 'Accounts'), [], 'before the first movement')
  })

  await t.test('an account shows why it holds what it holds', async (t) => {
    const { html, status } = await browser.get('/console/accounts/user:1:dollars')
    t.equal(status, 200)
    const figures = [...html.matchAll(/<p class="big">([^<]+)</g)].map(([, text]) => text)
    const balance = sumOf(sides.filter(({ account }) => account === 'user:1:dollars'))
    t.equal(units(figures[0] ?? ''), balance)
    t.same(
      figures.slice(1).map((text = '') => units(text)),
      [2_000n, balance - 2_000n],
    )
    const [[withdrawal = '', reason, event] = []] = cellsOf(html, 'Holds')
    t.equal(reason, 'gold agent withdrawal')
    t.equal(event, withdrawal)
    t.match(html, `href="/console/withdrawals/${withdrawal}"`)
    t.match(html, /Of <a href="\/console\/users\/1">/)
    t.match((await browser.get('/console/accounts/house:gifts:diamonds')).html, 'Diamonds paid for gifts')
  })

  await t.test('its movements lead to events, newest first, with the balance after each', async (t) => {
    const own = sides.filter(({ account }) => account === 'user:1:diamonds')
    let sum = 0n
    const wanted = own.map(({ position, counter, change }) => [String(position), counter, change, (sum += change)])
    const rows = await allRows(browser, '/console/accounts/user:1:diamonds', 'Movements')
    const shown = rows.map(([at, , , counter, amount = '', balance = '']) => [
      at,
      counter,
      units(amount),
      units(balance),
    ])
    t.same(shown, wanted.toReversed())
    const { html } = await browser.get('/console/accounts/user:1:diamonds')
    t.match(html, '<a href="/console/accounts/house:gifts:diamonds"><code><bdi>house:gifts:diamonds</bdi></code></a>')
  })

  await t.test('the chart has the balances of its table', async (t) => {
    const account = 'user:1:diamonds'
    const { html } = await browser.get(`/console/accounts/${account}`)
    const text = /data-chart="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? ''
    const { times, values, decimals } = JSON.parse(text)
    t.equal(decimals, 0)
    const shown = cellsOf(html, 'Balance over time').map(([, , balance = '']) => Number(units(balance)))
    t.same(values, [0, ...shown, shown.at(-1)])
    t.same(times, times.toSorted())
    t.notMatch((await browser.get('/console/accounts/user:9:coins')).html, 'data-chart')
  })

  await t.test('from, to and as of', async (t) => {
    const account = 'user:1:dollars'
    const own = sides.filter((side) => side.account === account)
    const [first] = own
    const last = own.at(-1)
    if (first === undefined || last === undefined) throw new Error('too few movements')
    const middle = first.position
    const before = await browser.get(`/console/accounts/${account}?as_of=${middle}`)
    t.equal(units(/class="big">([^<]+)</.exec(before.html)?.[1] ?? ''), first.change)
    t.match(before.html, `position ${middle}<`)
    t.equal(cellsOf(before.html, 'Movements').length, 1)
    t.same(cellsOf(before.html, 'Holds'), [])
    const after = await browser.get(`/console/accounts/${account}?from=${middle + 1}`)
    t.equal(cellsOf(after.html, 'Movements').length, own.length - 1)
    const both = await browser.get(`/console/accounts/${account}?to=${middle}&as_of=${last.position}`)
    t.equal(cellsOf(both.html, 'Movements').length, 1, 'a period before the moment shown')
    t.equal(units(/class="big">([^<]+)</.exec(both.html)?.[1] ?? ''), sumOf(own))
  })

  await t.test('statements as CSV, JSONL and a journal', async (t) => {
    const account = 'user:1:dollars'
    const path = `/console/accounts/${account}/statement`
    const own = sides.filter((side) => side.account === account)
    const csv = await browser.get(`${path}.csv`)
    t.match(csv.headers['content-disposition'], /^attachment; filename="user-1-dollars-positions-1-to-\d+\.csv"$/)
    const lines = csv.html.trimEnd().split('\r\n')
    t.equal(lines[0], 'position,at,type,account,counter_account,currency,amount,balance')
    t.equal(lines[1], `,,opening balance,${account},,dollars,,0.00`)
    t.equal(lines.length, own.length + 3)
    t.match(lines.at(-1), `,,closing balance,${account},,dollars,,`)
    const second = own[1]?.position ?? 0
    const json = (await browser.get(`${path}.jsonl?from=${second}`)).html.trimEnd().split('\n')
    const records = json.map((line): Record<string, unknown> => JSON.parse(line))
    t.equal(records[0]?.['opening'], Number(own[0]?.change))
    t.equal(records.length, own.length + 1)
    t.equal(records.at(-1)?.['closing'], Number(sumOf(own)))
    const journal = (await browser.get(`${path}.journal?from=${second}`)).html
    t.match(journal, 'opening balance')
    t.equal([...journal.matchAll(/ {4}user:1:dollars {2}\S+ dollars = /g)].length, own.length)
    t.notMatch(journal, /(house|issuance|withdrawal):\S+ .* = /, 'other accounts are not asserted')
  })

  await t.test('exports are what the page shows', async (t) => {
    const csv = (await browser.get('/console/accounts/export.csv?kind=user&currency=diamonds')).html
    const [header, ...lines] = csv.trimEnd().split('\r\n')
    t.equal(header, 'account,holder,currency,balance,held,available')
    t.equal(lines.length, 3)
    t.match(lines[2], `user:3:diamonds,'${FORMULA},diamonds,`, 'no cell begins a formula')
    const json = (await browser.get('/console/accounts/export.jsonl?kind=user&currency=diamonds')).html
    t.equal(JSON.parse(json.split('\n')[1] ?? '').holder, 'Ben')
    const movements = await browser.get('/console/accounts/user:1:diamonds/export.csv')
    t.equal(
      movements.html.trimEnd().split('\r\n').length,
      1 + sides.filter(({ account }) => account === 'user:1:diamonds').length,
    )
    const about = JSON.parse((await browser.get('/console/accounts/user:1:diamonds/export.json?from=3')).html)
    t.match(about, { list: 'Movements', filters: { from: '3' }, exported_by: 'staff:ann' })
    t.match(about.page, '/console/accounts/user:1:diamonds?from=3')
  })

  await t.test('an account that never had any movements has an empty page', async (t) => {
    for (const account of ['settled:1:coins', 'house:gifts:coins']) {
      const { status, html } = await browser.get(`/console/accounts/${account}`)
      t.equal(status, 200, account)
      t.match(html, 'No movements here', account)
    }
  })

  await t.test('what a statement was made of is said beside it', async (t) => {
    const account = '/console/accounts/user:1:dollars'
    const { html } = await browser.get(`${account}?from=2&to=9&at=12`)
    const statements = [...html.matchAll(/<a href="([^"]+statement\.[^"]+)" download>/g)]
    const links = statements.map(([, href = '']) => href.replaceAll('&amp;', '&'))
    const names: unknown[] = []
    for (const link of links) names.push((await browser.get(link)).headers['content-disposition'])
    const name = (extension: string) => `attachment; filename="user-1-dollars-positions-2-to-9.${extension}"`
    t.same(names, [name('csv'), name('jsonl'), name('journal'), name('json')])
    const { hash } = JSON.parse((await browser.get(`${account}/export.json?at=12`)).html)
    t.match(hash, /^[0-9a-f]{64}$/)
    t.match(JSON.parse((await browser.get(links.at(-1) ?? '')).html), {
      list: 'Statement of user:1:dollars',
      page: `${account}?from=2&to=9&at=12`,
      filters: { from: '2', to: '9' },
      from_position: 2,
      to_position: 9,
      position: 12,
      hash,
      exported_by: /^staff:/,
      exported_at: /^\d{4}-/,
    })
  })
})
