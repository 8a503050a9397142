import { test } from 'tap'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

const LIMIT = 60

test('pages that send requests to /admin/v1 never wait for the turn of their own page', async (t) => {
  const { app, staff } = await createTestApp(t, { rateLimit: LIMIT })
  const browser = await signedIn(app)
  const pages = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? '/console/proposals' : '/console/verify'))
  const answers = await Promise.all(pages.map((page) => browser.get(page)))
  t.same(
    answers.map(({ status }) => status),
    pages.map(() => 200),
  )
  t.equal((await staff('ann')('GET', '/admin/v1/proposals')).status, 200)

  const more = await Promise.all(Array.from({ length: LIMIT }, () => browser.get('/console/staff')))
  t.ok(
    more.some(({ status }) => status === 429),
    'pages are limited, too',
  )
})
