import { test } from 'tap'
import { isConsolePath, nextPath } from '../../src/console/session/session-check.ts'
import { endedSessionsIn, pruneEndedSessions } from '../../src/console/session/session-cookie.ts'
import { SignInCodes } from '../../src/console/session/sign-in.ts'
import { AddressLimit } from '../../src/http/limits/address-limit.ts'
import { ConsoleBrowser, signedIn } from '../harness/app/console-session.ts'
import { createTestApp, readDb } from '../harness/app/test-app.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { openTestPool } from '../harness/postgres/connections.ts'
import { csrfOf } from './page-texts.ts'

test('a link leads back to pages of the console only', async (t) => {
  for (const path of ['/console', '/console/users/3', '/console/events?actor=staff%3Aann', '/console?q=1/../a..']) {
    t.equal(isConsolePath(path), true, path)
    t.equal(nextPath(path), path)
  }
  for (const path of [
    'https://evil.test/console',
    '//evil.test',
    '/consolex',
    '/console//evil.test',
    '/console/\\evil.test',
    '/console/\r\nset-cookie: a=b',
    '/console/../docs',
    '/console/%2e%2E/docs',
    '/console/a/.%2e/..?b',
    '/console/..',
    '/admin/v1',
    '',
    '//evil.test/console',
    '/\\evil.test',
    '\\\\evil.test',
    '/\t/evil.test',
    '/console/..//evil.test',
    '/console/../..//evil.test',
    '/console/%2e%2e//evil.test',
    '/console@evil.test',
    '/console.evil.test',
    '/console:80@evil.test/',
    '/console%2f..%2f..%2fevil.test',
    '%2f%2fevil.test',
    '/console#@evil.test',
    ' /console/users',
    'javascript:alert(1)//console',
    '/console/.\t./docs',
    '/console/\u0000',
    '/console/\u007f',
    '/console/\u202egpj',
    `/console/${'a'.repeat(2_000)}`,
  ]) {
    t.equal(isConsolePath(path), false, JSON.stringify(path))
    t.equal(nextPath(path), '/console')
  }
  // However a browser reads what is left.
  for (const path of [
    '/console/a%2f..%2f..',
    '/console/%5c%5cevil.test',
    '/console/%252e%252e/docs',
    '/console?/../..',
  ]) {
    const { origin, pathname } = new URL(nextPath(path), 'https://ours.test')
    t.equal(origin, 'https://ours.test', path)
    t.match(pathname, /^\/console(\/|$)/, path)
  }
  t.equal(nextPath(undefined), '/console')
})

test('a code signs in once, and for ten minutes', async (t) => {
  const codes = new SignInCodes()
  const code = codes.create('a token', 'finance', 0)
  t.equal(codes.roleOf(code, 600_000), 'finance')
  t.equal(codes.roleOf(code, 600_001), undefined)
  t.equal(codes.take(code, 1), 'a token')
  t.equal(codes.take(code, 1), undefined)
  const late = codes.create('a token', 'finance', 0)
  t.equal(codes.take(late, 600_001), undefined)
  t.equal(codes.take('another'), undefined)
})

test('signing in, its limits, and signing out', async (t) => {
  const { app, database } = await createTestApp(t)
  const sign = (claims: object) => app.jwt.sign(claims, { expiresIn: '1h' })

  await t.test('without a session every page leads to signing in, and from there back', async (t) => {
    const browser = new ConsoleBrowser(app)
    const page = await browser.get('/console/nothing?a=1')
    t.equal(page.status, 303)
    t.equal(page.headers['location'], '/console/login?next=%2Fconsole%2Fnothing%3Fa%3D1')
    t.equal((await browser.get('/console')).headers['location'], '/console/login')
    t.equal((await browser.post('/console/sign-out', {})).headers['location'], '/console/login')
    for (const [url, next] of [
      [undefined, ''],
      ['http://127.0.0.1:3000/console', ''],
      ['http://127.0.0.1:3000/console/verify/3?at=2#a', '?next=%2Fconsole%2Fverify%2F3%3Fat%3D2'],
      ['http://127.0.0.1:3000/docs', ''],
      ['http://127.0.0.1:3000//evil.test/console', ''],
      ['https://evil.test/console/users', ''],
      ['/console/users', ''],
    ] as const) {
      const headers = { 'hx-request': 'true', ...(url === undefined ? {} : { 'hx-current-url': url }) }
      const part = await browser.get('/console/figures', headers)
      t.equal(part.status, 401)
      t.equal(part.headers['hx-redirect'], `/console/login${next}`, url ?? 'no address')
    }
    const signedInPage = await browser.submit('/console/login?next=%2Fconsole%3Fa%3D1', '/console/login', {
      token: sign({ sub: 'ann', role: 'operator', name: 'Ann <b>Ba&' }),
    })
    t.equal(signedInPage.headers['location'], '/console?a=1')
    t.match(
      String(signedInPage.headers['set-cookie']),
      /console=[^;]+; Max-Age=3(600|5\d\d); Path=\/; HttpOnly; SameSite=Lax/,
    )
    const home = await browser.get('/console')
    t.equal(home.status, 200)
    t.match(home.html, '<bdi>Ann &lt;b&gt;Ba&amp;</bdi>')
  })

  await t.test('tokens that are not of staff are refused', async (t) => {
    for (const token of ['', 'nonsense', sign({ sub: '1' }), sign({ sub: 'x', role: 'other' })]) {
      const browser = new ConsoleBrowser(app)
      const page = await browser.submit('/console/login', '/console/login', { token })
      t.equal(page.status, 422)
      t.match(page.html, 'role="alert"')
      t.equal((await browser.get('/console')).status, 303)
    }
    const browser = new ConsoleBrowser(app)
    const token = sign({ sub: 'ann', role: 'operator', groups: 'x'.repeat(3_500) })
    const page = await browser.submit('/console/login', '/console/login', { token })
    t.equal(page.status, 422, 'browsers would drop its cookie')
    t.match(page.html, 'too long')
  })

  await t.test('headers of every page', async (t) => {
    const browser = await signedIn(app)
    for (const url of ['/console', '/console/login', '/console/nothing', '/console/%zz', '/console/assets/nothing']) {
      const { headers } = await browser.get(url)
      t.equal(
        headers['content-security-policy'],
        "default-src 'none';script-src 'self';style-src 'self';font-src 'self';connect-src 'self';form-action 'self';" +
          "img-src 'self' data:;base-uri 'none';frame-ancestors 'none'",
        url,
      )
      t.equal(headers['x-content-type-options'], 'nosniff')
      t.equal(headers['referrer-policy'], 'same-origin')
      t.equal(headers['cache-control'], 'no-store')
      t.equal(headers['x-frame-options'], 'DENY')
    }
    const asset = /\/console\/assets\/console\.css\?v=[\w-]+/.exec((await browser.get('/console')).html)?.[0] ?? ''
    t.equal((await browser.get(asset)).headers['cache-control'], 'public, max-age=31536000, immutable')
    t.equal((await browser.get('/console/assets/other.css')).status, 404)
  })

  await t.test('pages of a session load, however many others share its address', async (t) => {
    const limited = await createTestApp(t, { database, addressLimit: new AddressLimit(4) })
    const browser = await signedIn(limited.app)
    const nobody = new ConsoleBrowser(limited.app)
    const url = '/console/assets/console.css'
    t.equal((await nobody.get(url)).status, 200)
    t.equal((await nobody.get(url)).status, 200)
    t.equal((await nobody.get(url)).status, 429)
    t.equal((await browser.get(url)).status, 200)
    t.equal((await browser.get('/console')).status, 200)
    const another = await browser.submit('/console', '/console/sign-out')
    t.equal(another.status, 303)
    t.equal((await browser.get('/console/login')).status, 429)
  })

  await t.test(
    'signing out ends a session everywhere, with every copy of its cookie, and no other session',
    async (t) => {
      const token = sign({ sub: 'ann', role: 'operator' })
      const signIn = async (browser: ConsoleBrowser) => {
        t.equal((await browser.submit('/console/login', '/console/login', { token })).status, 303)
        return browser
      }
      const another = await createTestApp(t, { database })
      const browser = await signIn(new ConsoleBrowser(app))
      const sameToken = await signIn(new ConsoleBrowser(app))
      const copies = [app, another.app].map((instance) => {
        const copy = new ConsoleBrowser(instance)
        for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
        return copy
      })
      for (const copy of copies) t.equal((await copy.get('/console')).status, 200)
      // Sent twice at once, as by a second click.
      const csrf = csrfOf(await browser.get('/console'))
      const pages = await Promise.all([1, 2].map(() => browser.post('/console/sign-out', { _csrf: csrf })))
      for (const page of pages) {
        t.equal(page.status, 303)
        t.equal(page.headers['location'], '/console/login')
      }
      for (const copy of copies) {
        const page = await copy.get('/console/users')
        t.equal(page.status, 303)
        t.equal(page.headers['location'], '/console/login?next=%2Fconsole%2Fusers')
        t.match(String(page.headers['set-cookie']), /console=;/)
      }
      t.equal((await sameToken.get('/console')).status, 200, 'another session with the same token')
      t.equal((await (await signIn(browser)).get('/console')).status, 200, 'signed in again')

      const replaced = new ConsoleBrowser(another.app)
      for (const [name, value] of browser.cookies) replaced.cookies.set(name, value)
      t.equal((await replaced.get('/console')).status, 200)
      await signIn(browser)
      t.equal((await replaced.get('/console')).status, 303, 'signing in ends the session that it replaces')
      t.equal((await browser.get('/console')).status, 200)
    },
  )

  await t.test('sessions that ended by signing out are forgotten once their cookies are over', async (t) => {
    const sessions = endedSessionsIn(readDb(t, database))
    await sessions.add('old')
    await sessions.add('new')
    await sessions.add('new')
    await queryRows(
      database,
      `update ended_console_sessions set ended_at = now() - interval '25 hours' where id = 'old'`,
    )
    const pool = openTestPool(t, database.serviceUrl, 1)
    await pruneEndedSessions(pool)
    t.equal(await sessions.has('old'), false)
    t.equal(await sessions.has('new'), true)
  })

  await t.test('a cookie that was changed, or is of another scheme, is no session', async (t) => {
    const browser = await signedIn(app)
    const value = browser.cookies.get('console') ?? ''
    browser.cookies.set(
      'console',
      value.replace(/^\d+/, (seconds) => String(Number(seconds) + 9)),
    )
    t.equal((await browser.get('/console')).status, 303)
    browser.cookies.delete('console')
    browser.cookies.set('__Host-console', value)
    t.equal((await browser.get('/console')).status, 303)
  })
})
