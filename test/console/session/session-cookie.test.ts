import { mock } from 'node:test'
import { test } from 'tap'
import { ConsoleBrowser, signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

const HOUR_MS = 3_600_000

test('over TLS and in production only the cookie __Host-console is a session', async (t) => {
  const plain = await createTestApp(t)
  const { database } = plain
  const appWith = async (production: boolean, trustProxy: readonly string[]) =>
    (await createTestApp(t, { database, production, trustProxy })).app
  const behindProxy = await appWith(false, ['127.0.0.1'])
  const overTls = { 'x-forwarded-proto': 'https' }
  const token = plain.app.jwt.sign({ sub: 'ann', role: 'operator', name: 'Ann' }, { expiresIn: '1h' })
  const intruder = await signedIn(plain.app, 'operator', 'mallory')
  const planted = intruder.cookies.get('console') ?? ''
  t.equal((await intruder.get('/console')).status, 200)

  const secured = [
    ['behind a proxy that speaks TLS', behindProxy, overTls],
    ['in production', await appWith(true, ['127.0.0.1']), overTls],
    ['in production, without TLS', await appWith(true, []), {}],
  ] as const
  for (const [name, app, headers] of secured) {
    await t.test(name, async (t) => {
      const browser = new ConsoleBrowser(app, headers)
      browser.cookies.set('console', planted)
      const refused = await browser.get('/console')
      t.equal(refused.status, 303, 'a cookie that a plain page or another host may have set')
      t.equal(refused.headers['location'], '/console/login')

      const page = await browser.submit('/console/login', '/console/login', { token })
      t.equal(page.status, 303)
      const cookies = [page.headers['set-cookie']].flat().map(String)
      const session = cookies.find((cookie) => cookie.startsWith('__Host-console=')) ?? ''
      for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']) {
        t.ok(session.split('; ').includes(attribute), attribute)
      }
      t.notMatch(session, 'Domain', 'browsers would refuse it')
      t.notOk(cookies.some((cookie) => cookie.startsWith('console=')))

      const home = await browser.get('/console')
      t.equal(home.status, 200)
      t.match(home.html, '<bdi>Ann</bdi>', 'the planted cookie does not count beside it')
      t.notMatch(home.html, 'mallory')

      const left = await browser.submit('/console', '/console/sign-out')
      t.match(String(left.headers['set-cookie']), /__Host-console=;.*Secure/)
      t.equal((await browser.get('/console')).status, 303)
    })
  }

  await t.test('without TLS the cookie of TLS is no session', async (t) => {
    const browser = new ConsoleBrowser(behindProxy)
    browser.cookies.set('__Host-console', planted)
    t.equal((await browser.get('/console')).status, 303)
  })

  await t.test('only a proxy that is trusted says that the connection is encrypted', async (t) => {
    const browser = new ConsoleBrowser(plain.app, overTls)
    t.equal((await browser.submit('/console/login', '/console/login', { token })).status, 303)
    t.same([...browser.cookies.keys()].sort(), ['console', 'console-form'])
    t.equal((await browser.get('/console')).status, 200)
  })
})

test('a session ends with its token, and after twelve hours at the latest', async (t) => {
  const { app } = await createTestApp(t)
  const start = Math.ceil(Date.now() / 1_000) * 1_000
  mock.timers.enable({ apis: ['Date'], now: start })
  t.teardown(() => mock.timers.reset())
  const signInFor = async (hours: number) => {
    const browser = new ConsoleBrowser(app)
    const token = app.jwt.sign({ sub: 'ann', role: 'finance' }, { expiresIn: `${hours}h` })
    const { headers } = await browser.submit('/console/login', '/console/login', { token })
    t.match(String(headers['set-cookie']), `Max-Age=${Math.min(hours, 12) * 3_600};`)
    return browser
  }
  const [short, long] = [await signInFor(2), await signInFor(48)]
  const statusesAfter = async (ms: number) => {
    mock.timers.setTime(start + ms)
    return [(await short.get('/console')).status, (await long.get('/console')).status]
  }
  t.same(await statusesAfter(2 * HOUR_MS - 1_000), [200, 200])
  t.same(await statusesAfter(2 * HOUR_MS + 1_000), [303, 200], 'the token of one has expired')
  t.same(await statusesAfter(12 * HOUR_MS), [303, 200])
  t.same(await statusesAfter(12 * HOUR_MS + 1_000), [303, 303], 'whatever the token says')
})
