import { test } from 'tap'
import { oldLedger, oldMonth } from '../audit/old-ledger.ts'
import { tamper } from '../audit/verify-database.ts'
import { agencyApp, cash, dataOf, requests } from '../features/agency/agency-fixture.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp, type TestResponse } from '../harness/app/test-app.ts'
import { until } from '../harness/until.ts'

test('the home page says what the books come to', async (t) => {
  const { app, database, operator } = await createTestApp(t)
  const browser = await signedIn(app)
  const empty = await browser.get('/console')
  t.equal(empty.status, 200)
  t.match(empty.html, 'No value was issued yet')
  t.match(empty.html, 'No withdrawal waits')

  await ok(operator('PUT', '/admin/v1/users/3', { name: 'Amina', uid: '1003' }))
  await ok(operator('POST', '/admin/v1/users/3/credits', { currency: 'dollars', amount: '229.50', reason: 'a test' }))
  await ok(operator('PUT', '/admin/v1/app-mode', { maintenance: true }))
  // What was read is shown for a second.
  const shown = async () => (await browser.get('/console/figures', { 'hx-request': 'true' })).html
  await until(async () => (await shown()).includes('in maintenance'))
  const html = await shown()
  t.match(html, '−229.50', 'what was issued')
  t.equal([...html.matchAll(/href="\/console\/catalogue\/app-mode"/g)].length, 2, 'the notice, and the figure')
  t.notMatch(html, 'Change it', 'finance cannot')
  t.match(html, '0 balanced')
  t.notMatch(html, 'The books are wrong')
  t.notMatch(html, '<html', 'a part of a page')
  t.match(html, 'href="/console/games?status=open"')
  const alone = await browser.get('/console/figures')
  t.equal(alone.status, 303)
  t.equal(alone.headers['location'], '/console')

  await t.test('a sum that is not zero is an alarm', async (t) => {
    await tamper(database, "update balances set balance = balance + 1 where account = 'user:3:dollars'")
    await until(async () => (await shown()).includes('The books are wrong: dollars must sum to zero'))
    t.match(await shown(), 'role="alert"')
  })

  await t.test('a ledger that is ahead of its clock is an alarm', async (t) => {
    t.notMatch(await shown(), 'later than the database’s clock')
    await tamper(database, "update ledger_head set at = clock_timestamp() + interval '73 hours'")
    await until(async () => (await shown()).includes('The last event is 3 days later than the database’s clock.'))
  })
})

test('the last event, and the months to close', async (t) => {
  const database = await oldLedger()
  // As a command leaves it that makes no event, such as one that is refused.
  await tamper(database, 'update ledger_head set at = now()')
  const { app } = await createTestApp(t, { database })
  const browser = await signedIn(app, 'finance', 'fay')
  const { html } = await browser.get('/console')
  t.match(html, /last event \d+ days ago/, 'not that of the last command')
  const [now, then] = [new Date().toISOString(), oldMonth].map((iso) => {
    const [year, month] = iso.split('-').map(Number)
    return (year ?? 0) * 12 + (month ?? 0)
  })
  t.match(html, `<a href="/console/reports/${oldMonth}">${(now ?? 0) - (then ?? 0)}</a>`)
  t.match(html, `${oldMonth} is next`)
  t.match(html, /href="\/console\/proposals\?status=open" class="zero">0</, 'nothing to look at')
})

test('the home page says where the money of waiting withdrawals is', async (t) => {
  const { app, user, operator } = await agencyApp(t)
  const request = async (dollars: number): Promise<number> =>
    dataOf(await user(1)('POST', `${requests}/request`, { ...cash, amount_in_dollars: dollars })).id
  await request(50)
  const approved = await request(30)
  await ok(operator('POST', `/admin/v1/withdrawals/${approved}/status`, { status: 'approved', note: 'complete' }))
  const { html } = await (await signedIn(app)).get('/console')
  t.match(html, '30.00 dollars are approved and stand under “In withdrawals” above, plus 50.00 on hold in the wallets')
})

async function ok(response: Promise<TestResponse>): Promise<void> {
  const { status, text } = await response
  if (status >= 300) throw new Error(text)
}
