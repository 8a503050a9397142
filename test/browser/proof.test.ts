import { test } from 'tap'
import { connect } from '../../src/db/connect.ts'
import { loadSlices } from '../../src/domain.ts'
import { dataOf } from '../features/agency/agency-fixture.ts'
import { createDemoApp } from '../harness/app/demo-app.ts'
import { type PageOptions, startBrowser, type TestPage } from '../harness/browser/browser.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { listen } from '../harness/http/raw-http.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openConsole } from './console-fixture.ts'

const skip = skipWithoutBrowser || onlyInFullRun

const paths = [
  '/console/accounts?kind=user',
  '/console/accounts/user:1:diamonds',
  '/console/accounts/user:4:agent_dollars',
  '/console/events?type=balance-credited',
  '/console/events/20',
  '/console/search?q=3',
  '/console/search?q=nothing',
]

test('from a balance to the hash that proves it', { skip }, async (t) => {
  const { slices } = await loadSlices()
  const { app, setOrigin, database } = await createDemoApp(t, slices)
  const origin = `http://127.0.0.1:${await listen(app)}`
  setOrigin(origin)
  const browser = await startBrowser(t)
  const token = app.jwt.sign({ sub: 'fay', role: 'finance', name: 'Fay' }, { expiresIn: '1h' })

  const signedInPage = async (options: PageOptions): Promise<TestPage> => {
    const shown = await browser.newPage(origin, options)
    await shown.open('/console/login')
    await shown.page.getByLabel('Staff token').fill(token)
    await shown.page.getByRole('button', { name: 'Sign in' }).click()
    await shown.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    return shown
  }

  /** From the home page's total to the proof of one event: answers what the proof says. */
  const walk = async ({ page }: TestPage): Promise<string> => {
    await page.getByRole('link', { name: '140,000', exact: true }).first().click()
    await page.getByRole('link', { name: 'user:1:diamonds', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Account user:1:diamonds' }).waitFor()
    await page.getByRole('group', { name: 'Movements' }).getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: 'balance credited' }).waitFor()
    return (await page.getByRole('status').textContent()) ?? ''
  }

  for (const look of looks) {
    const shown = await signedInPage({ look })
    for (const path of paths) {
      await t.test(`${path}: ${nameOf(look)}`, async (t) => {
        t.equal((await shown.open(path)).status(), 200)
        await checkPage(t, shown)
      })
    }
  }

  await t.test('a browser computes the hash itself', async (t) => {
    const shown = await signedInPage({})
    const { page } = shown
    await walk(shown)
    await page.getByText('Valid: this browser computed the stored hash, and event').waitFor()
    const stored = await page.locator('[data-verdict]').getAttribute('data-hash')
    t.equal(await page.locator('[data-computed] code').textContent(), stored)
  })

  await t.test('without scripts the service says what it found, and how to check it', async (t) => {
    const shown = await signedInPage({ javaScript: false })
    t.match(await walk(shown), /^Valid: the hash is that of the bytes below, and event \d+ was hashed with it\.$/)
    t.ok(await shown.page.getByText('sha256sum event-').isVisible())
  })

  await t.test('the chart draws the balances, and follows the choice of local times', async (t) => {
    const shown = await signedInPage({})
    await shown.open('/console/accounts/user:1:diamonds')
    const chart = shown.page.locator('.chart')
    await chart.locator('canvas').waitFor()
    t.match(await chart.textContent(), 'Time (UTC)')
    t.match(await chart.textContent(), '100,000', 'the legend has the last balance')
    await shown.page.getByRole('button', { name: 'Show local times' }).click()
    t.notMatch(await chart.textContent(), 'UTC')
    t.equal(await chart.locator('canvas').count(), 1)
  })

  await t.test('the search box leads to an account', async (t) => {
    const { page } = await signedInPage({})
    // The script shows it when it listens for keys; phones have none.
    await page.locator('.keys:not([hidden])').first().waitFor({ state: 'attached' })
    await page.keyboard.press('/')
    await page.keyboard.type('user:1:diamonds')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/accounts/user:1:diamonds')
    t.ok(await page.getByRole('heading', { level: 1 }).isVisible())
  })

  await t.test('what a page weighs when it is opened first', async (t) => {
    const cookies = await (await signedInPage({})).page.context().cookies()
    for (const path of ['/console/accounts/user:1:diamonds', '/console/events/20']) {
      const shown = await browser.newPage(origin)
      await shown.page.context().addCookies(cookies)
      await shown.open(path)
      await checkWeight(t, shown)
    }
  })

  await t.test('a browser finds an event that somebody changed', async (t) => {
    const shown = await signedInPage({})
    const client = await connect(database.ownerUrl, 'test')
    t.teardown(() => client.end())
    await client.query('alter table ledger_events disable trigger append_only')
    await client.query('update ledger_events set amount = array[1::bigint] where position = 20')
    await shown.open('/console/events/20')
    await shown.page.getByText('Not valid: this browser computed another hash than the stored one.').waitFor()
    await shown.open('/console/events/19')
    await shown.page.getByText('Not valid: this browser computed the stored hash, but event 20').waitFor()
  })
})

test('an event of more bytes than its page shows', { skip }, async (t) => {
  const { operator, signIn } = await openConsole(t)
  const ids = Array.from({ length: 500 }, (_, i) => i + 1)
  await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
  // More than is allowed without a colleague: the file is in the event of the proposal.
  const deposits = ids.map((user_id) => ({ user_id, dollars: 100, agent_dollars: 0 }))
  const file = await operator('POST', '/admin/v1/salary-deposits', { period: '2026-10', deposits })
  t.equal(file.status, 202)
  const path = `/console/events/${dataOf(file).id}`
  const couldNot = /^Valid: the hash is that .* This browser could not compute the hash itself\./

  await t.test('the browser fetches the bytes and computes their hash', async (t) => {
    const shown = await signIn('ann')
    await shown.open(path)
    await shown.page.getByText('Valid: this browser computed the stored hash.').waitFor()
    const stored = await shown.page.locator('[data-verdict]').getAttribute('data-hash')
    t.equal(await shown.page.locator('[data-computed] code').textContent(), stored)
    t.ok(await shown.page.locator('[data-hashed][data-address]').isVisible())
  })

  for (const [what, failsWith] of [
    ['the session has ended', 'session'],
    ['the service refuses', 'status'],
    ['there is no connection', 'connection'],
  ] as const) {
    await t.test(`${what}: what the service found stays`, async (t) => {
      const shown = await signIn('ann')
      const { page } = shown
      await page.route('**/hashed.txt', async (route) => {
        if (failsWith === 'connection') return route.abort()
        if (failsWith === 'status') return route.fulfill({ status: 503, body: 'Unavailable' })
        const other = await page.context().newPage()
        await other.goto('/console')
        await other.getByRole('button', { name: 'Sign out' }).click()
        await other.getByLabel('Staff token').waitFor()
        return route.continue()
      })
      await shown.open(path)
      const verdict = page.locator('[data-verdict]')
      await verdict.getByText(/this browser/i).waitFor()
      t.match(await verdict.textContent(), couldNot)
      t.equal(await verdict.getAttribute('class'), 'done')
      t.ok(await page.locator('[data-computed]').isHidden())
      t.notOk(
        shown.errors.some((error) => error.includes('hash.js')),
        'nothing is uncaught',
      )
    })
  }
})
