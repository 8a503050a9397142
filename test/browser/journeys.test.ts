import { createHash } from 'node:crypto'
import { test } from 'tap'
import { closingSteps, nextMonth } from '../../src/features/closings/closing.ts'
import { oldLedger, oldMonth } from '../audit/old-ledger.ts'
import { cashRequest, fillLedger } from '../harness/app/busy-ledger.ts'
import type { TestPage } from '../harness/browser/browser.ts'
import { checkPage } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { until } from '../harness/until.ts'
import { openConsole } from './console-fixture.ts'

const skip = skipWithoutBrowser || onlyInFullRun

/** Each journey with scripts, and once more without them where it needs none. */
const ways = [true, false]
const nameOf = (javaScript: boolean): string => (javaScript ? 'with scripts' : 'without scripts')

const button = ({ page }: TestPage, name: string) => page.getByRole('button', { name, exact: true })
const link = ({ page }: TestPage, name: string) => page.getByRole('link', { name, exact: true })
const table = ({ page }: TestPage, name: string) => page.getByRole('group', { name, exact: true })
const doneIs = ({ page }: TestPage, message: string) => page.getByRole('status').filter({ hasText: message }).waitFor()

test('journeys of staff', { skip }, async (t) => {
  const opened = await openConsole(t)
  const { database, user, signIn } = opened
  await fillLedger(t, opened)

  for (const javaScript of ways) {
    await t.test(`from a total to the hash of an event, ${nameOf(javaScript)}`, async (t) => {
      const shown = await signIn('fay', { role: 'finance', javaScript })
      const { page } = shown
      const ofDiamonds = table(shown, 'What each currency comes to').getByRole('row').filter({ hasText: 'diamonds' })
      // Issued, purchases, then users.
      await ofDiamonds.getByRole('cell').nth(3).getByRole('link').click()
      await page.waitForURL(/\/console\/accounts\?/)
      await link(shown, 'user:1:diamonds').click()
      await page.waitForURL('**/console/accounts/user:1:diamonds')
      await table(shown, 'Movements').getByRole('row').nth(1).getByRole('link').first().click()
      await page.waitForURL(/\/console\/events\/\d+$/)
      const found = javaScript
        ? 'Valid: this browser computed the stored hash'
        : 'Valid: the hash is that of the bytes below'
      await page.getByRole('status').filter({ hasText: found }).waitFor()
      const hashed = await page.locator('[data-hashed]').textContent()
      const stored = await page.locator('[data-hash]').getAttribute('data-hash')
      t.equal(
        createHash('sha256')
          .update(hashed ?? '')
          .digest('hex'),
        stored,
        'the bytes of the page have this hash',
      )
      if (!javaScript) t.ok(await page.getByText('sha256sum event-').isVisible())
      await checkPage(t, shown)
    })

    await t.test(`a withdrawal is approved, and paid by another, ${nameOf(javaScript)}`, async (t) => {
      const { body } = await user(1)('POST', '/api/v1/agency/target-withdraw-requests/request', {
        ...cashRequest,
        amount_in_dollars: '12.00',
      })
      const { id } = Object(body).data
      const ann = await signIn('ann', { javaScript })
      await ann.open('/console/withdrawals?status=pending')
      await link(ann, String(id)).click()
      await ann.page.waitForURL(`**/console/withdrawals/${id}`)
      await ann.page.getByLabel('Note, which both sides can read (optional)').fill('The papers are complete.')
      await button(ann, 'Approve').click()
      await doneIs(ann, 'The request was approved.')

      const ben = await signIn('ben', { javaScript })
      await ben.open('/console/withdrawals?status=approved')
      await link(ben, String(id)).click()
      await ben.page.waitForURL(`**/console/withdrawals/${id}`)
      await button(ben, 'Review: mark as transferred').click()
      await ben.page.waitForURL(/\/review\?status=transferred/)
      await button(ben, 'Mark as transferred').click()
      await doneIs(ben, 'The request was marked as transferred.')
      const timeline = (await table(ben, 'Timeline').textContent()) ?? ''
      t.match(timeline, /staff:ann/)
      t.match(timeline, /staff:ben/)
      t.match(timeline, 'The papers are complete.')
      await checkPage(t, ben)
    })

    await t.test(`a credit needs a second pair of eyes, ${nameOf(javaScript)}`, async (t) => {
      const ann = await signIn('ann', { javaScript })
      await ann.open('/console/users/3')
      await link(ann, 'Credit').click()
      await ann.page.waitForURL('**/console/users/3/credit')
      await ann.page.getByLabel('Currency').selectOption('coins')
      await ann.page.getByLabel('Amount').fill('250000')
      await ann.page.getByLabel('Reason').fill('Winner of the season')
      await button(ann, 'Review').click()
      await ann.page.waitForURL(/review=1/)
      await button(ann, 'Propose to credit 250,000 coins').click()
      await ann.page.waitForURL(/\/console\/proposals\/\d+$/)
      await doneIs(ann, 'A proposal was made. Another member of staff has to approve it.')
      t.ok(await ann.page.getByText('Only another member of staff may approve it').isVisible())
      t.equal(await button(ann, 'Approve and do it').count(), 0)
      await checkPage(t, ann)
      const address = new URL(ann.page.url()).pathname
      const before = await coinsOf(3)

      const ben = await signIn('ben', { javaScript })
      await ben.open('/console/proposals?status=open')
      await link(ben, address.split('/').at(-1) ?? '').click()
      await ben.page.waitForURL(`**${address}`)
      await button(ben, 'Approve and do it').click()
      await doneIs(ben, 'Approved, and done.')
      t.equal((await coinsOf(3)) - before, 250_000)
      await checkPage(t, ben)
    })
  }

  await t.test('a verification is watched to its end, and one finds what was tampered with', async (t) => {
    const shown = await signIn('fay', { role: 'finance' })
    const { page } = shown
    const outcome = async (): Promise<string> => {
      await shown.open('/console/verify')
      await button(shown, 'Start').click()
      await page.waitForURL(/\/console\/verify\/\d+$/)
      let loads = 0
      page.on('load', () => (loads += 1))
      // The page follows the run by itself.
      const ended = page.locator('.run .status:not(.waiting)').first()
      await ended.waitFor()
      t.equal(loads, 0, 'it was not loaded again')
      return (await ended.textContent()) ?? ''
    }
    t.equal(await outcome(), 'clean')
    await checkPage(t, shown)

    await queryRows(database, "update balances set balance = balance + 1 where account = 'user:2:coins'")
    t.equal(await outcome(), 'findings')
    await checkPage(t, shown)
    await table(shown, 'Findings').getByRole('link', { name: 'user:2:coins' }).click()
    await page.waitForURL('**/console/accounts/user:2:coins')
    t.match(await page.getByRole('heading', { level: 1 }).textContent(), 'user:2:coins')
    await queryRows(database, "update balances set balance = balance - 1 where account = 'user:2:coins'")
  })

  async function coinsOf(id: number): Promise<number> {
    const { body } = await user(id)('GET', '/api/v1/wallet')
    return Number(Object(body).data.coins)
  }
})

test('finance closes months', { skip }, async (t) => {
  const { database, signIn } = await openConsole(t, await oldLedger())
  const owner = await openClient(t, database.ownerUrl)
  for (const [javaScript, month] of [
    [true, oldMonth],
    [false, nextMonth(oldMonth)],
  ] as const) {
    await t.test(`${month}, ${nameOf(javaScript)}`, async (t) => {
      const shown = await signIn('fay', { role: 'finance', javaScript })
      const { page } = shown
      await shown.open('/console/reports')
      await link(shown, month).click()
      await page.waitForURL(`**/console/reports/${month}`)
      // The first step begins when this lock is given up: a colleague's page shows a run of which no step is running.
      await owner.query('begin; lock table closing_steps in share mode')
      const colleague = await signIn('eve', { role: 'finance', javaScript })
      const clicked = button(shown, 'Run all that are left').click()
      await until(async () => {
        await colleague.open(`/console/reports/${month}`)
        return (await button(colleague, 'Stop').count()) > 0
      })
      await owner.query('rollback')
      await clicked
      // With scripts both pages follow the steps; without them one loads them again. Each step has its own time.
      for (const follower of [shown, colleague]) {
        const { page } = follower
        const done = page.locator('.steps .status.good')
        for (let steps = 1; steps <= closingSteps.length; steps += 1) {
          await until(async () => {
            if (!javaScript) await follower.open(`/console/reports/${month}`)
            return (await done.count()) >= steps
          })
        }
        const review = page.getByRole('button', { name: 'Review the closing' })
        await until(async () => {
          if (!javaScript) await follower.open(`/console/reports/${month}`)
          return (await review.count()) > 0
        })
      }
      const review = button(shown, 'Review the closing')
      await checkPage(t, shown)
      await review.click()
      await page.getByRole('heading', { name: `Close ${month} for good?` }).waitFor()
      await checkPage(t, shown)
      await button(shown, 'Record the closing').click()
      await page.getByRole('heading', { name: 'Recorded' }).waitFor()
      t.match(await page.getByRole('status').textContent(), /./)
      await checkPage(t, shown)
      await shown.open('/console/events?type=month-closed')
      t.ok(await page.getByText('staff:fay').first().isVisible(), 'the closing is on the ledger')
    })
  }
})
