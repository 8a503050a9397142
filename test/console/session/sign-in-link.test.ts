import { test } from 'tap'
import { createSignInCodes } from '../../../src/console/session/sign-in.ts'
import { ConsoleBrowser, signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { csrfOf } from '../page-texts.ts'

test('links that sign in exist for development on this machine only', async (t) => {
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
    t.ok(createSignInCodes({ production: false, host }), host)
    t.equal(createSignInCodes({ production: true, host }), null, `${host} in production`)
  }
  for (const host of ['0.0.0.0', '::', '10.1.2.3', 'economy.example']) {
    t.equal(createSignInCodes({ production: false, host }), null, host)
  }
})

test('the page of a link signs in by a form, once, and not when the session was ended', async (t) => {
  const { app, signInCodes, operator } = await createTestApp(t)
  const code = signInCodes?.create(app.jwt.sign({ sub: 'ann', role: 'finance' }, { expiresIn: '1h' }), 'finance') ?? ''
  const link = `/console/sign-in?code=${code}`

  for (const browser of [new ConsoleBrowser(app), new ConsoleBrowser(app)]) {
    const page = await browser.get(link)
    t.equal(page.status, 200)
    t.match(page.html, 'Sign in as finance')
    t.equal(browser.cookies.get('console'), undefined, 'a GET begins no session')
    t.equal((await browser.get('/console')).status, 303)
  }

  const browser = new ConsoleBrowser(app)
  const { status, headers } = await browser.submit(link, '/console/sign-in')
  t.equal(status, 303)
  t.equal(headers['location'], '/console')
  t.match((await browser.get('/console')).html, 'ann')

  const late = new ConsoleBrowser(app)
  const used = await late.get(link)
  t.equal(used.status, 404)
  t.match(used.html, 'This link is not valid')
  t.notMatch(used.html, 'action="/console/sign-in"')
  const csrf = csrfOf(await late.get('/console/login'))
  for (const sent of [code, '', 'another']) {
    const refused = await late.post('/console/sign-in', { _csrf: csrf, code: sent })
    t.equal(refused.status, 404, sent)
    t.equal(late.cookies.get('console'), undefined)
  }

  await t.test('a link does not sign in whose session was ended meanwhile, and its code is used up', async (t) => {
    const issuedAt = Math.floor(Date.now() / 1_000) - 5
    const token = app.jwt.sign({ sub: 'eve', role: 'finance', iat: issuedAt }, { expiresIn: '1h' })
    const ended = `/console/sign-in?code=${signInCodes?.create(token, 'finance')}`
    await operator('POST', '/admin/v1/staff/eve/revoke-sessions')
    const eve = new ConsoleBrowser(app)
    const page = await eve.submit(ended, '/console/sign-in')
    t.equal(page.status, 422)
    t.match(page.html, 'has expired or was ended')
    t.equal((await eve.get(ended)).status, 404)
  })
})

test('in production there are no links that sign in, and no playground', async (t) => {
  const { app, signInCodes } = await createTestApp(t, { production: true })
  t.equal(signInCodes, null)
  const browser = await signedIn(app)
  t.equal((await browser.get('/console/sign-in?code=a')).status, 404)
  t.equal((await browser.post('/console/sign-in', { code: 'a' })).status, 404)
  t.notMatch((await new ConsoleBrowser(app).get('/console/login')).html, 'links that sign in')
  t.notMatch((await browser.get('/console/live')).html, 'playground')
  t.equal((await browser.get('/console/live/playground')).status, 404)
  t.equal((await browser.post('/console/live/playground/token', { user_id: '1' })).status, 404)
  const made = await browser.submit('/console/verify', '/console/verify/checkpoint')
  t.match(String(made.headers['set-cookie']), /__Host-console-done=[^;]+;.* Secure/)
})
