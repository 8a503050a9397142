import { test } from 'tap'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

const EXAMPLE = 'Write a day as 2026-10-31, a time as 2026-10-31T08:00:00Z, or a position as 34.'

test('what was done is said once, on the page that an act leads to', async (t) => {
  const { app } = await createTestApp(t)
  const browser = await signedIn(app)
  const message = 'A checkpoint was made.'
  const make = () => browser.submit('/console/verify', '/console/verify/checkpoint')

  t.notMatch((await browser.get('/console/verify?done=checkpoint-made')).html, message, 'no address says it')
  const made = await make()
  t.equal(made.headers['location'], '/console/verify')
  t.match(String(made.headers['set-cookie']), /console-done=[^;]+; Max-Age=30; Path=\/; HttpOnly; SameSite=Lax/)
  t.notMatch((await browser.get('/console/figures', { 'hx-request': 'true' })).html, message)
  t.notMatch((await browser.get('/console/verify', { 'hx-request': 'true' })).html, message, 'a part')
  t.notMatch((await browser.get('/console')).html, message, 'another page')
  t.match((await browser.get('/console/verify?at=1')).html, `<p class="done" role="status">${message}`)
  t.notOk(browser.cookies.has('console-done'))
  t.notMatch((await browser.get('/console/verify')).html, message, 'loaded again')

  await make()
  const value = decodeURIComponent(browser.cookies.get('console-done') ?? '')
  for (const forged of ['checkpoint-made /console/verify', value.replace('checkpoint-made', 'debited'), `${value}x`]) {
    browser.cookies.set('console-done', encodeURIComponent(forged))
    const { status, html } = await browser.get('/console/verify')
    t.equal(status, 200)
    t.notMatch(html, 'class="done"', forged)
  }
})

test('a field that was filled in wrongly can be filled in again', async (t) => {
  const { app, operator } = await createTestApp(t)
  const finance = await signedIn(app, 'finance', 'fay')
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })

  for (const [path, name, label] of [
    ['/console/reports', 'as_of', 'As of'],
    ['/console/accounts/user:7:coins', 'from', 'From'],
    ['/console/accounts/user:7:coins', 'as_of', 'As of'],
    ['/console/staff', 'to', 'To'],
    ['/console/draws', 'from', 'From'],
    ['/console/draws/sends', 'to', 'To'],
    ['/console/events', 'from', 'From'],
  ] as const) {
    const refused = await finance.get(`${path}?${name}=31+October+2026`)
    t.equal(refused.status, 422, path)
    t.match(refused.html, `<form class="correction" method="get" action="${path}">`)
    t.match(refused.html, `“<bdi>31 October 2026</bdi>” cannot be used for “${label}”`)
    t.match(refused.html, `name="${name}" type="text" value="31 October 2026"`, 'what was typed stays')
    t.match(refused.html, EXAMPLE)
    t.match(refused.html, `<a href="${path}">Show the page without it</a>`)
    t.notMatch(refused.html, 'must be a position', 'the example says it')
  }

  await t.test('the other fields stay, and both ends of a period are shown', async (t) => {
    const { html } = await finance.get(
      '/console/events?type=genesis&from=2026-02-01&to=2026-01-01&cursor=abc&q=%3F%22%3E',
    )
    t.match(html, 'Show the page without it')
    t.match(html, 'The end of the period must not be before its beginning.')
    t.match(html, 'name="from" type="text" value="2026-02-01" maxlength="255">')
    t.match(html, '<input type="hidden" name="type" value="genesis">')
    t.match(html, 'name="q" value="?&quot;&gt;"')
    t.notMatch(html, 'name="cursor"')
    t.match(html, 'href="/console/events?type=genesis&amp;from=2026-02-01&amp;q=%3F%22%3E"')
  })

  await t.test('positions beyond the end, numbers, files and hands that write links', async (t) => {
    const beyond = await finance.get('/console/reports?as_of=999')
    t.match(beyond.html, /The ledger ends at position \d+\. Write a day/)
    t.match((await finance.get('/console/events?user=Lina')).html, 'Write a number, such as 7.')
    const file = await finance.get('/console/events/export.csv?from=x')
    t.match(file.html, '<form class="correction" method="get" action="/console/events">')
    const link = await finance.get('/console/events?at=x')
    t.equal(link.status, 422)
    t.match(link.html, '<code>at</code>')
    t.notMatch(link.html, 'class="correction"')
    t.match(link.html, '<a href="/console/events">Events</a> · <a href="/console">Home</a>')
  })
})
