import { test } from 'tap'
import { auditInThisThread } from '../audit/audit-in-this-thread.ts'
import { holdVerifications } from '../audit/hold-verifications.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'

const path = '/admin/v1/jobs'

test('all that takes long is listed with its progress, and stopped from one page', async (t) => {
  auditInThisThread(t)
  const { app, database, staff, user, operator } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 5, reason: 'a test' })
  const finance = await signedIn(app, 'finance', 'fin')
  t.match((await finance.get('/console/jobs')).html, 'Nothing that takes long was started yet')

  const token = app.jwt.sign({ sub: 'eve', role: 'finance' }, { expiresIn: '1h' })
  const streamed = await app.inject({
    url: '/admin/v1/ledger/verify?as_of=2',
    headers: { authorization: `Bearer ${token}` },
  })
  t.match(streamed.body, '"findings":[]')
  const release = await holdVerifications(t, database, 'gift_streaks')
  await finance.submit('/console/verify', '/console/verify/start')
  await queryRows(
    database,
    `insert into jobs (kind, subject, started_by, heartbeat_at, events_read, events_total, input)
     values ('rebuild', '', 'staff:bob', now() - interval '31 seconds', 5, 20, 'null')`,
  )
  const { html } = await finance.get('/console/jobs')
  t.match(html, /<h2>\s*<a href="\/console\/verify\/2">/)
  t.match(html, /\d of 2 events/)
  t.match(html, 'hx-select="#running"')
  t.match(html, 'Streamed verification 2')
  t.match(html, 'it was interrupted', 'its process was killed')
  t.notMatch(html, 'action="/console/jobs/3/stop"')
  const stopped = await finance.submit('/console/jobs', '/console/jobs/2/stop')
  t.equal(stopped.headers['location'], '/console/jobs', stopped.html)
  await release()
  t.notMatch((await finance.get('/console/jobs')).html, '/stop"')
  const csv = (await finance.get('/console/jobs/export.csv')).html.trim().split('\r\n')
  t.equal(csv.length, 4)
  t.match(csv[2], /^2,Verification,stopped,it was stopped,\d,2,staff:fin,.*,staff:fin$/)

  const eve = staff('eve', 'finance')
  const first = Object((await eve('GET', `${path}?limit=2`)).body)
  t.match(first.data, [
    { id: 3, kind: 'rebuild', state: 'failed', progress: { events: 5, of: 20 } },
    { id: 2, kind: 'verification', state: 'stopped', stopped_by: 'staff:fin' },
  ])
  const second = Object((await eve('GET', `${path}?limit=2&cursor=${first.meta.next_cursor}`)).body)
  t.match(second.data, [
    { kind: 'streamed-verification', subject: '2', state: 'done', started_by: 'staff:eve', result: /^Clean: 2 events/ },
  ])
  t.match(Object((await eve('POST', `${path}/1/stop`)).body).data, { state: 'done', stopped_by: null }, 'it has ended')
  t.equal((await eve('POST', `${path}/99/stop`)).status, 404)
  for (const [method, url] of [
    ['GET', path],
    ['POST', `${path}/1/stop`],
  ] as const) {
    t.equal((await user(7)(method, url, {})).status, 403, `${method} as a user`)
    t.equal((await app.inject({ method, url, payload: {} })).statusCode, 401, `${method} without a token`)
  }
})
