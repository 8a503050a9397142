import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { test } from 'tap'
import { readStep, readSteps } from '../../src/audit/closings/step-rows.ts'
import { type ClosingStep, closingSteps, nextMonth } from '../../src/features/closings/closing.ts'
import { credit } from '../../src/features/wallet/balance-move.ts'
import { auditInThisThread } from '../audit/audit-in-this-thread.ts'
import { holdVerifications } from '../audit/hold-verifications.ts'
import { oldLedger, oldMonth } from '../audit/old-ledger.ts'
import { type ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'
import { createTestApp, readDb } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { copyOf } from '../harness/postgres/test-database.ts'
import { until } from '../harness/until.ts'
import { utcDay } from '../harness/utc-day.ts'
import { csrfOf } from './page-texts.ts'

const month = oldMonth
const page = `/console/reports/${month}`
const canaries = ['<script>alert(1)</script>', '{{7*7}}', '<%= 1 %>', 'مرحبا \u202eabc', '=cmd()', 'x'.repeat(100)]
const LONG = '\u{1f600}'.repeat(500)

/** Makes the hidden fields of forms, for acts that the page has none for. */
async function tokenOf(browser: ConsoleBrowser, url: string): Promise<() => Record<string, string>> {
  const _csrf = csrfOf(await browser.get(url))
  return () => ({ _csrf, key: randomUUID() })
}

/** Its credits are exceptions: some with hostile reasons, one with none that can be seen, and then many with long ones. */
const ledgerOfMonth = () =>
  oldLedger(async (own, { serviceUrl }) => {
    const ledger = createTestExecutor(own, serviceUrl)
    const credits = [...canaries, '\u00a0', ...Array.from({ length: 120 }, () => LONG)]
    for (const reason of credits) {
      await ledger.runOk(credit, { user_id: 1, currency: 'coins', amount: 5, reason }, 'staff:ann')
    }
  })

/** Each step has its own time: together they take long on a busy machine. */
async function haveEnded(db: ReturnType<typeof readDb>, steps: readonly ClosingStep[]): Promise<void> {
  for (const step of steps) {
    await until(async () => {
      // Steps take seconds: to ask more often would take the time of those that run.
      await pause(50)
      return !['waiting', 'running'].includes((await readStep(db, month, step)).state)
    })
  }
}

test('the trial balance, and months of a young ledger', async (t) => {
  const { app, operator } = await createTestApp(t)
  const finance = await signedIn(app, 'finance', 'fin')
  const now = new Date().toISOString().slice(0, 7)
  const empty = await finance.get('/console/reports')
  t.equal(empty.status, 200)
  t.match(empty.html, 'Nothing has happened yet')
  t.match(empty.html, 'Nothing has moved yet')
  t.match((await finance.get('/console/reports/2020-01')).html, 'The ledger began after this month')
  t.match((await finance.get('/console/reports/trial-balance')).html, 'Nothing has moved yet')

  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'dollars', amount: 123_456, reason: 'a test' })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'dollars', amount: 1, reason: 'a test' })
  let young = empty
  await until(async () => {
    young = await finance.get('/console/reports')
    // What was read a moment ago is shown to all.
    return young.html.includes('at=3"')
  })
  t.match(young.html, `The first month is not over. ${now} can be closed from ${nextMonth(now)}-01 00:00:00 UTC on`)
  t.match(young.html, 'href="/console/accounts?kind=user&amp;currency=dollars&amp;at=3"')
  t.match(young.html, /123,457\.00/)
  t.match(young.html, /Sum of dollars<\/dt><dd>\s*<span class="status good">zero/)
  t.match((await finance.get(`/console/reports/${now}`)).html, 'This month is not over')

  await t.test('as of a moment', async (t) => {
    const past = await finance.get('/console/reports?as_of=2')
    t.equal(past.status, 200)
    t.match(past.html, 'hx-get="/console/reports/trial-balance?at=2" hx-trigger="load, every 5s"')
    t.notMatch(past.html, '123,45', 'it is folded after the page')
    const part = await finance.get('/console/reports/trial-balance?at=2', { 'hx-request': 'true' })
    t.match(part.html, '123,456.00')
    t.notMatch(part.html, '<html')
    const whole = await finance.get('/console/reports/trial-balance?at=2')
    t.match(whole.html, '123,456.00')
    t.match(whole.html, '<html')
    t.equal((await finance.get(`/console/reports?as_of=${Number(now.slice(0, 4)) + 1}-12-31`)).status, 422)
    const today = utcDay()
    const running = await finance.get(`/console/reports?as_of=${today}`)
    // Midnight may have passed.
    if (today === utcDay()) t.match(running.html, 'is not over: until now')
    for (const asOf of ['x', '2026-02-30', '0', '99', '2020-01-01', '9999999999999999', '<script>', 'a'.repeat(41)]) {
      const refused = await finance.get(`/console/reports?as_of=${encodeURIComponent(asOf)}`)
      t.equal(refused.status, 422, asOf)
      t.match(refused.html, /<label for="wrong-0">As of<\/label>\s*<input id="wrong-0" name="as_of"/, asOf)
      t.match(refused.html, 'Write a day as 2026-10-31, a time as 2026-10-31T08:00:00Z, or a position as 34.', asOf)
      t.match(refused.html, '<a href="/console/reports">Show the page without it</a>', asOf)
    }
    const csv = await finance.get('/console/reports/trial-balance/export.csv?at=2')
    t.equal(csv.html, 'currency,kind,balance,accounts\r\ndollars,issuance,-123456.00,1\r\ndollars,user,123456.00,1\r\n')
    const lines = (await finance.get('/console/reports/trial-balance/export.jsonl?at=3')).html.trim().split('\n')
    t.strictSame(JSON.parse(lines[1] ?? ''), { currency: 'dollars', kind: 'user', balance: '123457.00', accounts: 1 })
    const about = JSON.parse((await finance.get('/console/reports/trial-balance/export.json?at=2')).html)
    t.match(about, { position: 2, exported_by: 'staff:fin' })
  })

  for (const [text, message] of [
    ['0000-01', 'The ledger began after this month.'],
    ['0099-12', 'The ledger began after this month.'],
    ['2254-01', 'This month is not over. It can be closed from 2254-02-01 00:00:00 UTC on'],
    ['9999-12', 'This month is not over. It can be closed from 10000-01-01 00:00:00 UTC on'],
  ] as const) {
    const far = await finance.get(`/console/reports/${text}`)
    t.equal(far.status, 200, text)
    t.match(far.html, message, text)
    t.notMatch(far.html, /NaN|Invalid|null|undefined/, text)
    t.notMatch(far.html, '/run"', text)
  }
  const fields = await tokenOf(finance, '/console/verify')
  for (const [of, message] of [
    [now, 'This month is not over'],
    ['2020-01', 'The ledger began after'],
    ['0000-01', 'The ledger began after'],
    ['9999-12', 'This month is not over'],
  ] as const) {
    for (const act of ['run', 'steps/verify/run', 'record']) {
      const refused = await finance.post(`/console/reports/${of}/${act}`, fields())
      t.equal(refused.status, 422, `${of} ${act}`)
      t.match(refused.html, message)
    }
  }
  t.equal((await finance.post(`/console/reports/2026-13/run`, fields())).status, 404)
  t.equal((await finance.post(`/console/reports/${month}/steps/x/run`, fields())).status, 404)
})

test('books that are wrong are an alarm', async (t) => {
  const { app, operator, database } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 5, reason: 'a test' })
  await queryRows(database, `update balances set balance = 7 where account = 'user:7:coins'`)
  const { html } = await (await signedIn(app, 'finance')).get('/console/reports')
  t.match(html, 'The books are wrong: coins does not sum to zero')
  t.match(html, '<span class="status bad">2, which is not zero</span>')
})

test('finance closes a month, from its first step to the next month', async (t) => {
  auditInThisThread(t)
  const database = await ledgerOfMonth()
  const untouched = await copyOf(database)
  const { app, closingsFolder } = await createTestApp(t, { database })
  const finance = await signedIn(app, 'finance', 'fin')
  const head = Number((await queryRows(database, 'select position from ledger_head'))[0]?.['position'])
  const folder = join(closingsFolder, month)
  const db = readDb(t, database)
  const settled = async (): Promise<string> => {
    await haveEnded(db, closingSteps)
    await until(async () => !(await finance.get(page)).html.includes('/stop"'))
    return (await finance.get(page)).html
  }
  const submit = async (action: string): Promise<string> => {
    const sent = await finance.submit(page, `${page}/${action}`)
    t.equal(sent.status, 303, sent.html)
    t.equal(sent.headers['location'], page)
    return settled()
  }

  const list = await finance.get('/console/reports')
  t.match(list.html, `href="${page}"`)
  t.match(list.html, 'Close the next month')
  t.match(list.html, `Close ${month} first.`)
  const begun = (await finance.get(page)).html
  t.match(begun, 'Run all that are left')
  t.match(begun, `1 to ${head}`)
  t.notMatch(begun, `action="${page}/record"`)
  t.equal((await finance.get(`${page}/record`)).headers['location'], page, 'not before its steps are done')
  t.equal([...begun.matchAll(/<span class="status neutral">waiting</g)].length, 8)
  t.equal((await finance.get(`${page}/files/entries.csv.gz`)).status, 404)
  const fields = await tokenOf(finance, page)
  const early = await finance.post(`${page}/record`, fields())
  t.equal(early.status, 422)
  t.match(early.html, 'Not all steps of the closing are done')

  await t.test('a failed step refuses the recording', async (t) => {
    await queryRows(database, `update balances set balance = balance + 1 where account = 'user:2:dollars'`)
    const failed = await submit('run')
    t.match(failed, '<span class="status bad">failed</span>')
    t.match(failed, 'href="/console/accounts/user:2:dollars"')
    t.match(failed, 'Left: verify, exceptions.')
    t.notMatch(failed, `action="${page}/record"`)
    const refused = await finance.post(`${page}/record`, fields())
    t.equal(refused.status, 422)
    t.match(refused.html, 'A step of the closing failed. Correct what it found and run it again')
    await queryRows(database, `update balances set balance = balance - 1 where account = 'user:2:dollars'`)
  })

  await t.test('an operator acknowledges what a step found, finance sees it', async (t) => {
    const bea = await signedIn(app, 'operator', 'bea')
    const shown = (await finance.get(page)).html
    t.match(shown, 'balance-credited by staff:ann without a reason')
    t.match(shown, 'An operator who had no part in it can acknowledge it.')
    t.match(shown, 'This cannot be acknowledged: rebuild the tables')
    t.notMatch(shown, `action="${page}/acknowledge"`)
    const form = (await bea.get(page)).html
    const [, finding = ''] = /name="finding" value="([0-9a-f]{16})"/.exec(form) ?? []
    const sent = await tokenOf(bea, page)
    const why = 'said <b>on the telephone</b>'
    t.equal((await bea.post(`${page}/acknowledge`, { ...sent(), finding, reason: '\u00a0' })).status, 422)
    const own = await signedIn(app, 'operator', 'Ann')
    const ownFields = await tokenOf(own, page)
    const refused = await own.post(`${page}/acknowledge`, { ...ownFields(), finding, reason: why })
    t.match(refused, { status: 403, html: /A colleague has to acknowledge it/ })
    const done = await bea.post(`${page}/acknowledge`, { ...sent(), finding, reason: why })
    t.equal(done.headers['location'], page, done.html)
    const after = (await finance.get(page)).html
    t.match(after, /Acknowledged by <a href="[^"]+">.*?bea/s)
    t.match(after, 'said &lt;b&gt;on the telephone&lt;/b&gt;')
    t.match(after, 'Left: verify.')
  })

  const ran = await submit('steps/verify/run')
  t.equal([...ran.matchAll(/<span class="status good">done</g)].length, 8)
  for (const text of ['<script>alert', '<%=']) t.notMatch(ran, text)
  t.match(ran, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(ran, '{{7*7}}')
  t.match(ran, `href="/console/events/${head}"`)
  t.match(ran, /And \d+ more, in its files\./)
  t.ok(Buffer.byteLength(ran) < 150_000, `${Buffer.byteLength(ran)} bytes`)
  const exceptions = gunzipSync((await finance.get(`${page}/files/exceptions.csv.gz`)).bytes).toString()
  t.match(exceptions, `,'=cmd(),yes`)
  t.match(exceptions, LONG, 'the file has all of it')

  await t.test('files are downloaded with their hash', async (t) => {
    const [, sha256] = /entries\.csv\.gz<\/bdi><\/code>.*?<code><bdi>([0-9a-f]{64})</s.exec(ran) ?? []
    const entries = await finance.get(`${page}/files/entries.csv.gz`)
    t.equal(createHash('sha256').update(entries.bytes).digest('hex'), sha256)
    t.match(entries.headers, {
      'content-disposition': 'attachment; filename="entries.csv.gz"',
      'x-content-type-options': 'nosniff',
    })
    t.notOk('content-length' in entries.headers, 'it may grow while it is sent')
  })

  await t.test('two clicks at once run a step once, and it can be stopped', async (t) => {
    const release = await holdVerifications(t, database, 'gift_streaks')
    const clicks = await Promise.all([1, 2].map(() => finance.post(`${page}/steps/verify/run`, fields())))
    t.same(
      clicks.map(({ status }) => status),
      [303, 303],
    )
    const other = await finance.post(`${page}/steps/export/run`, fields())
    t.match(other, { status: 422, html: /A step of a closing is running/ })
    const running = (await finance.get(page)).html
    t.match(running, `hx-get="${page}/steps/verify/progress" hx-trigger="every 1s"`)
    t.notMatch(running, '/run"')
    const progress = `${page}/steps/verify/progress`
    const part = await finance.get(progress, { 'hx-request': 'true' })
    t.match(part.html, '<progress')
    t.notMatch(part.html, '<html')
    const stopped = await finance.submit(page, `${page}/stop`)
    t.equal(stopped.headers['location'], page)
    t.match((await finance.get(page)).html, 'it was stopped')
    t.equal((await finance.get(progress, { 'hx-request': 'true' })).headers['hx-refresh'], 'true')
    t.equal((await finance.get(progress)).headers['location'], page, 'its page')
    t.equal((await finance.post(`${page}/stop`, fields())).headers['location'], page, 'nothing runs')
    await release()
    t.match(await submit('run'), `action="${page}/record"`)
    const review = (await finance.get(`${page}/record`)).html
    t.match(review, `Close ${month} for good?`)
    t.match(review, 'manifest.json')
    t.match(review, 'Acknowledged findings to be recorded')
    t.match(review, `<form method="post" action="${page}/record"`)
  })

  const once = fields()
  const recorded = await Promise.all([once, once].map((sent) => finance.post(`${page}/record`, sent)))
  for (const { headers, html } of recorded) t.equal(headers['location'], page, html)
  const twice = await finance.post(`${page}/record`, fields())
  t.match(twice, { status: 422, html: /This month is closed already/ })
  const closed = (await finance.get(page)).html
  t.match(closed, 'The month is closed.')
  t.match(closed, 'Acknowledged findings')
  t.match(closed, `files is in event ${head + 2} of the ledger`)
  t.match(closed, `href="/console/events/${head + 2}"`)
  t.equal((await finance.get(`${page}/record`)).headers['location'], page)
  for (const other of ['2020-01', '2199-12']) {
    t.notMatch((await finance.get(`/console/reports/${other}`)).html, 'Covers events', other)
  }
  t.match(closed, 'href="/console/staff?sub=fin"')
  t.match(closed, `href="${page}/files/manifest.json"`)
  t.match((await finance.get('/console/staff')).html, `<a href="${page}">`)
  const event = (await finance.get(`/console/events/${head + 2}`)).html
  t.match(event, `<dt>month</dt><dd><a href="${page}">`)
  t.match(event, /<div class="long"><dt>manifest\.json<\/dt><dd><code><bdi>[0-9a-f]{64}</)
  t.match(event, /<dt>checkpoint hash<\/dt><dd><code><bdi>[0-9a-f]{64}</)
  t.notMatch(closed, `action="${page}`)
  for (const action of ['run', 'steps/verify/run']) {
    const again = await finance.post(`${page}/${action}`, fields())
    t.match(again, { status: 422, html: /This month is closed already/ }, action)
  }
  t.equal((await finance.post(`${page}/stop`, fields())).headers['location'], page)
  rmSync(join(folder, 'entries.csv.gz'))
  t.notMatch(
    (await finance.get(page)).html,
    `href="${page}/files/entries.csv.gz"><code><bdi>entries.csv.gz</bdi></code></a></td>\n<td class="end"><span class="number">—`,
  )

  const next = nextMonth(month)
  t.match((await finance.get('/console/reports')).html, `href="/console/reports/${next}"`)
  const following = (await finance.get(`/console/reports/${next}`)).html
  t.match(following, `the closing of ${month}, event ${head}`)
  t.match(following, 'Acknowledged for earlier months')
  t.match(following, 'Run all that are left')
  const older = await finance.get(`/console/reports?before=${head + 2}`)
  t.equal(older.status, 200)

  await t.test('a step that runs ends with the service', async (t) => {
    const another = await createTestApp(t, { database: untouched })
    const browser = await signedIn(another.app, 'finance', 'fin')
    const release = await holdVerifications(t, untouched, 'gift_streaks')
    t.equal((await browser.submit(page, `${page}/run`)).status, 303)
    const reads = readDb(t, untouched)
    await until(async () => (await readStep(reads, month, 'verify')).state === 'running')
    await another.app.close()
    await another.jobs.close()
    await release()
    const states = await readSteps(reads, month)
    t.match(states[0], { state: 'failed', error: 'it was stopped' })
    t.equal(states[1]?.state, 'waiting', 'no further one begins')
  })
})
