import { test } from 'tap'
import type { TestPage } from '../harness/browser/browser.ts'
import { checkPage } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openConsole } from './console-fixture.ts'

const skip = skipWithoutBrowser || onlyInFullRun

const focused = ({ page }: TestPage): Promise<string> =>
  page.evaluate<string>('`${document.activeElement.tagName} ${document.activeElement.getAttribute("href")}`')

/** Waits for the answers to this many of the requests by which a part of the page is kept up to date. */
async function updates({ page }: TestPage, path: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await page.waitForResponse((response) => response.url().endsWith(path))
  // The part is put in place after its answer.
  await page.waitForTimeout(300)
}

test('parts that change by themselves', { skip }, async (t) => {
  const opened = await openConsole(t)
  const { database, operator, signIn } = opened
  await operator('PUT', '/admin/v1/users/3', { name: 'Amina', uid: '1003' })
  await operator('POST', '/admin/v1/users/3/credits', { currency: 'coins', amount: 5, reason: 'a test' })

  await t.test('the home page keeps focus and its alarm, and can be paused', async (t) => {
    await queryRows(database, "update balances set balance = balance + 1 where account = 'user:3:coins'")
    const shown = await signIn('ann')
    const { page } = shown
    await page.getByRole('alert').waitFor()
    await page.evaluate('document.querySelector("[role=alert]").known = true')
    const figure = page.getByRole('link', { name: 'None' }).first()
    await figure.focus()
    t.equal(await focused(shown), 'A /console/verify')
    const before = await page.locator('#figures').textContent()
    await updates(shown, '/console/figures', 2)
    t.not(await page.locator('#figures').textContent(), before, 'the figures were put in place')
    t.equal(await focused(shown), 'A /console/verify', 'after two updates')
    t.equal(await page.evaluate('document.querySelector("[role=alert]").known'), true, 'is not announced again')
    const account = page.getByRole('group', { name: 'What each currency comes to' }).getByRole('link').first()
    await account.focus()
    const address = await focused(shown)
    await updates(shown, '/console/figures', 1)
    t.equal(await focused(shown), address, 'in a table')

    await page.getByRole('button', { name: 'Pause updates' }).click()
    await page.waitForTimeout(1_000)
    let asked = 0
    page.on('request', () => {
      asked += 1
    })
    await page.waitForTimeout(6_000)
    t.equal(asked, 0, 'paused')
    await checkPage(t, shown)
    await page.getByRole('button', { name: 'Resume updates' }).click()
    await updates(shown, '/console/figures', 1)
    await queryRows(database, "update balances set balance = balance - 1 where account = 'user:3:coins'")
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  await t.test('a part that fails leaves the page whole, and is asked for again', async (t) => {
    const shown = await signIn('ann')
    const { page } = shown
    const errorPage = await page.request.get('/console/games/none')
    const menus = page.getByRole('navigation', { name: 'Console' })
    await page.route('**/console/figures', (route) => route.fulfill({ response: errorPage, status: 500 }))
    const state = page.getByText('A part of this page could not be brought up to date.')
    await updates(shown, '/console/figures', 2)
    t.equal(await menus.count(), 1)
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Home')
    t.equal(await page.locator('#figures').count(), 1)
    await state.waitFor()
    await page.evaluate('document.querySelector("[data-update-state]").firstChild.known = true')
    await updates(shown, '/console/figures', 1)
    t.equal(
      await page.evaluate('document.querySelector("[data-update-state]").firstChild.known'),
      true,
      'is not announced again',
    )
    await page.unroute('**/console/figures')
    await queryRows(database, "update balances set balance = balance + 1 where account = 'user:3:coins'")
    await page.getByRole('alert').waitFor()
    t.equal(await menus.count(), 1)
    t.equal(await state.count(), 0)
    await queryRows(database, "update balances set balance = balance - 1 where account = 'user:3:coins'")
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })
})
