import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { printedRoutes } from '../../harness/http/printed-routes.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { csrfOf } from '../page-texts.ts'

/** All that finance may do beside looking: sign out, verify, stop jobs, make checkpoints, and close months. */
const financeWrites = [
  '/console/sign-out',
  '/console/verify/start',
  '/console/verify/:id/stop',
  '/console/verify/checkpoint',
  '/console/jobs/:id/stop',
  '/console/reports/:month/steps/:step/run',
  '/console/reports/:month/run',
  '/console/reports/:month/stop',
  '/console/reports/:month/record',
]

const withoutSession = ['/console/login', '/console/sign-in']

/** Routes of the console that change something. */
function writeRoutes(app: FastifyInstance): readonly string[] {
  const routes = printedRoutes(app).filter(({ path }) => /^\/console(\/|$)/.test(path))
  const reads = ['GET', 'HEAD']
  const methods = new Set(routes.flatMap((route) => route.methods.filter((method) => !reads.includes(method))))
  if ([...methods].join() !== 'POST') throw new Error(`forms send nothing but POST: ${[...methods].join()}`)
  return routes.filter((route) => route.methods.includes('POST')).map(({ path }) => path)
}

const addressOf = (route: string): string =>
  route.replaceAll(/:\w+/g, (name) => (name === ':month' ? '2026-01' : name === ':step' ? 'verify' : '1'))

/** What forms send, so that nothing but the session stands against them. */
const fields = {
  key: 'one',
  expects: '',
  reason: 'a test',
  currency: 'coins',
  amount: '5',
  user_id: '1',
  sub: 'ben',
  name: 'Chad',
  status: 'approved',
  maintenance: 'on',
}

test('forms of the console', async (all) => {
  const { app, database, operator } = await createTestApp(all)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  const routes = writeRoutes(app)
  const head = () => queryRows(database, 'select max(position) as position from ledger')

  await all.test('every form is refused that no page of the console sends', async (t) => {
    const before = await head()
    const browser = await signedIn(app)
    const _csrf = csrfOf(await browser.get('/console'))
    const colleague = csrfOf(await (await signedIn(app, 'operator', 'ben')).get('/console'))
    const origin = 'http://127.0.0.1:3000'
    const offenders: string[] = []

    for (const route of routes) {
      const address = addressOf(route)
      for (const [name, headers] of [
        ['no origin', {}],
        ['no origin of a page of ours', { 'sec-fetch-site': 'same-origin' }],
        ['a foreign origin', { origin: 'https://evil.test' }],
        ['an origin that begins as ours', { origin: `${origin}.evil.test` }],
        ['an origin that is hidden', { origin: 'null' }],
        ['another site', { origin, 'sec-fetch-site': 'cross-site' }],
        ['another host of the domain', { origin, 'sec-fetch-site': 'same-site' }],
        ['no page', { origin, 'sec-fetch-site': 'none' }],
      ] as const) {
        const page = await browser.post(address, { ...fields, _csrf }, headers)
        const isRefused = page.status === 403 && page.html.includes('was not sent from a page of the console')
        if (!isRefused) offenders.push(`${route}: ${name}`)
      }
      for (const token of [undefined, '', 'made-up', `${_csrf}a`, colleague]) {
        const page = await browser.post(address, { ...fields, ...(token === undefined ? {} : { _csrf: token }) })
        if (page.status !== 403 || !page.html.includes('no longer valid')) offenders.push(`${route}: ${token}`)
      }
    }
    t.strictSame(offenders, [])
    t.same(await head(), before, 'nothing was written')
    t.equal((await browser.get('/console')).status, 200, 'nor was the session ended')
  })

  await all.test('finance is refused every form but its own', async (t) => {
    const refused = routes.filter((route) => !financeWrites.includes(route) && !withoutSession.includes(route))
    t.ok(refused.length > 15, 'all pages are there')
    t.same(
      [...financeWrites, ...withoutSession].filter((route) => !routes.includes(route)),
      [],
      'none is left that is not there any more',
    )
    const before = await head()

    const finance = await signedIn(app, 'finance', 'fay')
    const _csrf = csrfOf(await finance.get('/console'))
    for (const route of refused) {
      const page = await finance.post(addressOf(route), { ...fields, _csrf })
      t.equal(page.status, 403, route)
      t.match(page.html, 'You may not do this', route)
    }
    t.same(await head(), before, 'nothing was written')

    const own = financeWrites.filter((route) => route !== '/console/sign-out')
    for (const route of [...own, '/console/sign-out']) {
      t.not((await finance.post(addressOf(route), { ...fields, _csrf })).status, 403, route)
    }
  })
})
