import { test } from 'tap'
import { loadSlices } from '../../../src/domain.ts'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

test('what was done is said once, on the page that an act leads to', async (t) => {
  const { slices } = await loadSlices()
  const { app } = await createTestApp(t, slices)
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
