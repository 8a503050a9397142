import { test } from 'tap'
import { fillLedger } from '../harness/app/busy-ledger.ts'
import { consoleAddresses } from '../harness/app/console-addresses.ts'
import { checkPage, checkWeight } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { looks, nameOf } from '../harness/browser/looks.ts'
import { isFullRun, onlyInFullRun } from '../harness/long-tests.ts'
import { openConsole } from './console-fixture.ts'

test('pages of the console', { skip: skipWithoutBrowser }, async (t) => {
  const opened = await openConsole(t)
  const { app, origin, browser, signIn } = opened
  const ledger = await fillLedger(t, opened)
  const { openGame, withdrawals, proposals } = ledger
  const pages = [
    ...consoleAddresses(app, ledger).flatMap(({ kind, address }) => (kind === 'page' ? [address] : [])),
    // Other states of the same pages.
    '/console/accounts/issuance:operator:coins',
    '/console/events/1',
    `/console/events/${ledger.game}`,
    `/console/games/${openGame}`,
    `/console/withdrawals/${withdrawals.transferred}`,
    `/console/withdrawals/${withdrawals.goldAgent}`,
    `/console/proposals/${proposals.approved}`,
    '/console/search?q=nothing-of-the-kind',
    '/console/users?q=nobody',
  ]
  const missing = '/console/events/999999'

  for (const look of looks) {
    await t.test(`signing in: ${nameOf(look)}`, async (t) => {
      const shown = await browser.newPage(origin, { look })
      await shown.open('/console/login')
      await checkPage(t, shown)
      await checkWeight(t, shown)
    })
    const shown = await signIn('ann', { look })
    for (const path of pages) {
      await t.test(`${path}: ${nameOf(look)}`, async (t) => {
        t.equal((await shown.open(path)).status(), 200)
        await checkPage(t, shown, { isQuick: !isFullRun })
      })
    }
    await t.test(`${missing}: ${nameOf(look)}`, async (t) => {
      t.equal((await shown.open(missing)).status(), 404)
      // Chromium reports the status of the page itself as an error.
      await checkPage(t, shown, { foreignScripts: [missing] })
      t.ok(await shown.page.getByRole('alert').isVisible())
    })
  }

  const skip = onlyInFullRun
  await t.test('every page reads without scripts', { skip }, async (t) => {
    const shown = await signIn('ann', { javaScript: false })
    for (const path of [...pages, missing]) {
      await shown.open(path)
      t.ok(await shown.page.getByRole('heading', { level: 1 }).isVisible(), path)
    }
  })

  await t.test('what a page weighs when it is opened first', { skip }, async (t) => {
    const cookies = await (await signIn('ann')).page.context().cookies()
    for (const path of pages) {
      const shown = await browser.newPage(origin)
      await shown.page.context().addCookies(cookies)
      await shown.open(path)
      await checkWeight(t, shown)
      await shown.page.context().close()
    }
  })
})
