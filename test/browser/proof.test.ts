import { test } from 'tap'
import { changed, tamper } from '../audit/verify-database.ts'
import { dataOf } from '../features/agency/agency-fixture.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openConsole } from './console-fixture.ts'

const skip = skipWithoutBrowser || onlyInFullRun

test('what scripts add to accounts and events', { skip }, async (t) => {
  const { operator, signIn, database } = await openConsole(t)
  const ids = Array.from({ length: 500 }, (_, i) => i + 1)
  await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
  for (const amount of [5, 7]) {
    await operator('POST', '/admin/v1/users/1/credits', { currency: 'coins', amount, reason: 'a test' })
  }
  const ofCredits = `select max(position) as position from ledger where type = 'balance-credited'`
  const credited = Number((await queryRows(database, ofCredits))[0]?.['position'])
  // More than is allowed without a colleague: the file is in the event of the proposal, whose page does not show all of it.
  const deposits = ids.map((user_id) => ({ user_id, dollars: 100, agent_dollars: 0 }))
  const file = await operator('POST', '/admin/v1/salary-deposits', { period: '2026-10', deposits })
  t.equal(file.status, 202)
  const path = `/console/events/${dataOf(file).id}`
  const couldNot = /^Valid: the hash is that .* This browser could not compute the hash itself\./

  await t.test('the chart draws the balances, and follows the choice of local times', async (t) => {
    const shown = await signIn('ann')
    await shown.open('/console/accounts/user:1:coins')
    const chart = shown.page.locator('.chart')
    await chart.locator('canvas').waitFor()
    t.match(await chart.textContent(), 'Time (UTC)')
    t.match(await chart.textContent(), '12', 'the legend has the last balance')
    await shown.page.getByRole('button', { name: 'Show local times' }).click()
    t.notMatch(await chart.textContent(), 'UTC')
    t.equal(await chart.locator('canvas').count(), 1)
  })

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

  await t.test('a browser finds an event that somebody changed', async () => {
    const shown = await signIn('ann')
    await tamper(database, changed(credited, 'amount = array[1::bigint]'))
    await shown.open(`/console/events/${credited}`)
    await shown.page.getByText('Not valid: this browser computed another hash than the stored one.').waitFor()
    await shown.open(`/console/events/${credited - 1}`)
    await shown.page.getByText(`Not valid: this browser computed the stored hash, but event ${credited}`).waitFor()
  })
})
