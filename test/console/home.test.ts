import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { loadSlices } from '../../src/domain.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp, type TestResponse } from '../harness/app/test-app.ts'
import { until } from '../harness/until.ts'

test('the home page says what the books come to', async (t) => {
  const { slices } = await loadSlices()
  const { app, database, operator } = await createTestApp(t, slices)
  const browser = await signedIn(app)
  const empty = await browser.get('/console')
  t.equal(empty.status, 200)
  t.match(empty.html, 'No value was issued yet')
  t.match(empty.html, 'No withdrawal waits')

  await ok(operator('PUT', '/admin/v1/users/3', { name: 'Amina', uid: '1003' }))
  await ok(operator('POST', '/admin/v1/users/3/credits', { currency: 'dollars', amount: '229.50', reason: 'a test' }))
  await ok(operator('PUT', '/admin/v1/app-mode', { maintenance: true }))
  // What was read is shown for a second.
  const shown = async () => (await browser.get('/console/figures')).html
  await until(async () => (await shown()).includes('in maintenance'))
  const html = await shown()
  t.match(html, '−229.50', 'what was issued')
  t.match(html, '0 balanced')
  t.notMatch(html, 'The books are wrong')
  t.notMatch(html, '<html', 'a part of a page')

  await t.test('a sum that is not zero is an alarm', async (t) => {
    const owner = await connect(database.ownerUrl, 'a test')
    t.teardown(() => owner.end())
    await owner.query("update balances set balance = balance + 1 where account = 'user:3:dollars'")
    await until(async () => (await shown()).includes('The books are wrong: dollars must sum to zero'))
    t.match(await shown(), 'role="alert"')
  })
})

async function ok(response: Promise<TestResponse>): Promise<void> {
  const { status, text } = await response
  if (status >= 300) throw new Error(text)
}
