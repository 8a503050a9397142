import { test } from 'tap'
import { loadSlices } from '../../src/domain.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { startBrowser, type TestBrowser, type TestPage } from '../harness/browser/browser.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { listen } from '../harness/http/raw-http.ts'

/** Every page. */
const paths = [
  '/console',
  '/console/live',
  '/console/reports',
  '/console/reports?as_of=1',
  '/console/reports/trial-balance',
  '/console/reports/2020-01',
  '/console/users',
  '/console/users/3',
  '/console/users/3/balances/dollars',
  '/console/users/3/history',
  '/console/users/3/credit',
  '/console/users/3/credit?review=1&currency=coins&amount=5&reason=a%20test',
  '/console/withdrawals',
  '/console/games',
  '/console/draws',
  '/console/draws?from=1&gift=3',
  '/console/draws/sends',
  '/console/staff',
  '/console/staff/end-sessions?sub=ann',
  '/console/proposals',
  '/console/catalogue',
  '/console/catalogue/gifts',
  '/console/catalogue/gifts/new',
  '/console/catalogue/packages',
  '/console/catalogue/countries',
  '/console/catalogue/releases/new',
  '/console/catalogue/app-mode',
  '/console/catalogue/app-mode/review?edited=1&maintenance=on',
]

test('pages of the console', { skip: skipWithoutBrowser }, async (t) => {
  const { slices } = await loadSlices()
  const { app, operator, setOrigin } = await createTestApp(t, slices)
  await operator('PUT', '/admin/v1/users/3', { name: 'Amina' })
  const origin = `http://127.0.0.1:${await listen(app)}`
  setOrigin(origin)
  const browser = await startBrowser(t)
  const token = app.jwt.sign({ sub: 'ann', role: 'operator', name: 'Ann' }, { expiresIn: '1h' })

  const signedInPage = async (options: Parameters<TestBrowser['newPage']>[1]): Promise<TestPage> => {
    const shown = await browser.newPage(origin, options)
    await shown.open('/console/login')
    await shown.page.getByLabel('Staff token').fill(token)
    await shown.page.getByRole('button', { name: 'Sign in' }).click()
    await shown.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    return shown
  }

  for (const look of looks) {
    await t.test(`signing in: ${nameOf(look)}`, async (t) => {
      const shown = await browser.newPage(origin, { look })
      await shown.open('/console/login')
      await checkPage(t, shown)
      await checkWeight(t, shown)
    })
    const shown = await signedInPage({ look })
    for (const path of paths) {
      await t.test(`${path}: ${nameOf(look)}`, async (t) => {
        t.equal((await shown.open(path)).status(), 200)
        await checkPage(t, shown)
      })
    }
  }

  await t.test('every page reads without scripts', async (t) => {
    const shown = await signedInPage({ javaScript: false })
    for (const path of paths) {
      t.equal((await shown.open(path)).status(), 200)
      t.ok(await shown.page.getByRole('heading', { level: 1 }).isVisible(), path)
    }
  })

  await t.test('what a page weighs when it is opened first', async (t) => {
    for (const path of paths) {
      const cookies = await (await signedInPage({})).page.context().cookies()
      const shown = await browser.newPage(origin)
      await shown.page.context().addCookies(cookies)
      await shown.open(path)
      await checkWeight(t, shown)
    }
  })
})
