import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { checkpointSigner } from '../../src/audit/checkpoint.ts'
import { makeSeal } from '../../src/audit/seals/seal.ts'
import { rowPath } from '../../src/console/layout/links.ts'
import { recordSeal } from '../../src/features/closings/seal.ts'
import { auditInThisThread } from '../audit/audit-in-this-thread.ts'
import { holdVerifications } from '../audit/hold-verifications.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { createTestExecutor, queryRows } from '../harness/ledger/test-executor.ts'
import { until } from '../harness/until.ts'
import { csrfOf } from './page-texts.ts'

test('finance starts verifications, follows them, and sees what they find', async (t) => {
  auditInThisThread(t)
  const { app, database, operator, sealsFolder } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 5, reason: 'a test' })
  const finance = await signedIn(app, 'finance', 'fin')
  const empty = await finance.get('/console/verify')
  t.equal(empty.status, 200)
  t.match(empty.html, 'Nobody has verified the ledger yet')
  t.match(empty.html, 'No checkpoint was made here yet')

  const verify = async (fields: Record<string, string> = {}) => {
    const started = await finance.submit('/console/verify', '/console/verify/start', fields)
    t.equal(started.status, 303, started.html)
    const address = String(started.headers['location'])
    await until(async () => {
      // To ask more often would take the time of the run.
      await pause(50)
      return !(await finance.get(address)).html.includes('hx-trigger')
    })
    return { address, html: (await finance.get(address)).html }
  }
  const clean = await verify()
  t.match(clean.html, '<span class="status good">clean</span>')
  t.match(clean.html, 'Nothing was found: every event')
  t.match(clean.html, /Clean: all \d+ events/)

  const made = await finance.submit('/console/verify', '/console/verify/checkpoint')
  t.equal(made.headers['location'], '/console/verify')
  const { html } = await finance.get('/console/verify')
  const checkpoint = (/<pre class="bytes"[^>]*>([^<]+)<\/pre>/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"')
  t.match(JSON.parse(checkpoint), { position: 2, algorithm: 'Ed25519' })
  t.match(html, 'href="/console/verify/checkpoints/1"')
  t.match(html, 'href="/console/staff?sub=fin"')
  const file = await finance.get('/console/verify/checkpoints/1')
  t.equal(file.headers['content-disposition'], 'attachment; filename="checkpoint-2.json"')
  t.equal(file.html, `${checkpoint}\n`)
  const compared = await verify({ checkpoint })
  t.match(compared.html, 'Compared with checkpoint')
  t.match(compared.html, '/console/events/2')
  for (const text of ['no JSON', '{}', '{"position":1}', checkpoint.replace('"position": 2', '"position": 1')]) {
    const refused = await finance.submit('/console/verify', '/console/verify/start', { checkpoint: text })
    t.equal(refused.status, 422, text)
    t.match(refused.html, 'checkpoint')
  }

  t.match((await finance.get('/console/verify')).html, /The last one that began at the first event was \d+ s ago\./)

  const options = { sealsFolder, signer: checkpointSigner('k'), piiKey: null, progress: () => {} }
  const { sealed } = await makeSeal(database.serviceUrl, { ...options, signal: new AbortController().signal })
  if (sealed === null) throw new Error('it was not sealed')
  await createTestExecutor(t, database.serviceUrl).runOk(recordSeal, sealed)
  const fromSeal = await verify()
  t.match(fromSeal.html, /Clean: all 1 events after the seal, their draws, and every table are right\./)
  t.match(fromSeal.html, 'From the seal at')
  t.notMatch((await verify({ full: 'on' })).html, 'From the seal at')

  await queryRows(database, "update balances set balance = 6 where account = 'user:7:coins'")
  const wrong = await verify()
  t.match(wrong.html, '<span class="status bad">findings</span>')
  t.match(wrong.html, 'href="/console/accounts/user:7:coins"')
  const csv = await finance.get('/console/verify/export.csv')
  t.match(csv.html, /^id,outcome,findings/)
  t.equal(csv.html.trim().split('\r\n').length, 6, 'a line of titles, and five runs')

  const early = (await finance.get('/console/verify/export.csv?at=1')).html
  t.equal(early.trim().split('\r\n').length, 1, 'no run began before the second event')
  t.match(JSON.parse((await finance.get('/console/verify/export.json?at=1')).html).note, 'Shown as it is now')

  const part = await finance.get(`${wrong.address}/progress`, { 'hx-request': 'true' })
  t.equal(part.status, 200)
  t.match(part.html, 'class="run ended"', 'with its end the button that stops it is hidden')
  t.equal((await finance.get(`${wrong.address}/progress`)).headers['location'], wrong.address, 'its page')
  t.notMatch(part.html, '<html')
  const stopped = await finance.get(wrong.address)
  t.notMatch(stopped.html, `action="${wrong.address}/stop"`, 'it has ended')
  const token = csrfOf(stopped)
  const late = await finance.post(`${wrong.address}/stop`, { _csrf: token, key: 'too late' })
  t.equal(late.headers['location'], wrong.address)
  t.notMatch((await finance.get(wrong.address)).html, 'Stopped.', 'nobody stopped what had ended')
  const nothing = await finance.submit('/console/verify', '/console/verify/start', { checkpoint: ' null ' })
  t.equal(nothing.status, 422, 'it would compare nothing')
  t.match(wrong.html, '1 finding, listed below.')
  await queryRows(
    database,
    `insert into balances (account, balance) select 'user:' || n || ':coins', 1 from generate_series(100, 150) n`,
  )
  t.match((await verify()).html, '20 findings or more; the first are listed below.')
  t.match((await finance.get('/console/verify')).html, '20 or more')
})

test('a verification that runs is stopped, and no other can be started meanwhile', async (t) => {
  const { app, database, operator } = await createTestApp(t)
  for (const id of [7, 8]) await operator('POST', '/admin/v1/users', { users: [{ id }] })
  const finance = await signedIn(app, 'finance', 'fin')
  const other = await signedIn(app, 'finance', 'eve')
  t.match((await finance.get('/console/verify')).html, 'action="/console/verify/start"')
  const release = await holdVerifications(t, database, 'gift_streaks')
  const started = await finance.submit('/console/verify', '/console/verify/start')
  const address = String(started.headers['location'])
  const list = (await other.get('/console/verify')).html
  t.notMatch(list, 'action="/console/verify/start"', 'what one pasted would be lost')
  t.match(list, 'One runs at a time')
  const early = (await other.get('/console/verify?at=1')).html
  t.match(early, 'Nobody has verified', 'none of the rows shown is the one that runs')
  t.match(early, 'One runs at a time')
  t.notMatch(early, 'action="/console/verify/start"')
  t.match((await other.get(address)).html, `action="${address}/stop"`)
  const stopped = await other.submit(address, `${address}/stop`)
  t.equal(stopped.headers['location'], address, stopped.html)
  await release()
  const { html } = await other.get(address)
  t.match(html, 'Stopped.')
  t.match(html, '<span class="status neutral">stopped</span>')
  t.match(html, /Stopped by<\/dt><dd>.*eve/)
  t.match((await other.get('/console/verify')).html, 'action="/console/verify/start"')
  t.match(await queryRows(database, 'select state, stopped_by from jobs'), [
    { state: 'stopped', stopped_by: 'staff:eve' },
  ])
})

test('rows that are wrong lead to their pages', async (t) => {
  for (const [table, id, path] of [
    ['holds', 'user:7:dollars', '/console/accounts/user:7:dollars'],
    ['bag_items', '7:3', '/console/users/7'],
    ['proposals', '12', '/console/proposals/12'],
    ['decorations', '3', '/console/catalogue/gifts/3'],
    ['privilege_packages', '2', '/console/catalogue/packages/2'],
    ['app_releases', 'android', '/console/catalogue/releases/android'],
    ['app_modes', 'app', '/console/catalogue/app-mode'],
    ['month_closings', '2026-10', '/console/reports/2026-10'],
    ['privilege_cards', '40', '/console/events/40'],
    ['gift_streaks', '1:R1:3', undefined],
  ] as const) {
    t.equal(rowPath(table, id), path, table)
  }
})
