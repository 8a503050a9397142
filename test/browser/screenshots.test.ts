import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { openPool } from '../../src/db/pool.ts'
import { saveInstance } from '../../src/db/queries/instances.ts'
import type { TestPage } from '../harness/browser/browser.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { until } from '../harness/until.ts'
import { openConsole } from './console-fixture.ts'
import { dataOf, lastMonth, pastWeeks } from './past-weeks.ts'

// Makes the screenshots of src/console/README.md: `npm run screenshots`.

const folder = fileURLToPath(new URL('../../src/console/screenshots', import.meta.url))
const MAX_BYTES = 150_000
const WIDTH = 1280

const skip = process.env['SCREENSHOTS'] === undefined ? 'with SCREENSHOTS=1' : skipWithoutBrowser

test('screenshots of the console', { skip }, async (t) => {
  const opened = await openConsole(t, await pastWeeks())
  const { database, signIn, staff } = opened
  mkdirSync(folder, { recursive: true })

  /** Writes what the window shows, scrolled so that `top` is at its upper edge. */
  const shoot = async ({ page }: TestPage, name: string, height: number, top?: string): Promise<void> => {
    await page.waitForLoadState('networkidle')
    await page.setViewportSize({ width: WIDTH, height })
    if (top !== undefined) {
      await page.evaluate(`document.querySelector(${JSON.stringify(top)}).scrollIntoView(); scrollBy(0, -12)`)
    }
    const path = join(folder, name)
    await page.screenshot({ path })
    const { size } = statSync(path)
    t.ok(size <= MAX_BYTES, `${name}: ${size} bytes, of ${MAX_BYTES}`)
  }
  /** The newest event of a type whose data matches. */
  const newest = async (type: string, data: string): Promise<number> => {
    const [row] = await queryRows(
      database,
      `select max(position) as position from ledger where type = '${type}' and data ~ '${data}'`,
    )
    return Number(row?.['position'])
  }

  const finance = staff('fay', 'finance')
  await dataOf(finance, '/admin/v1/ledger/checkpoints', {})
  const { id: verification } = await dataOf(finance, '/admin/v1/ledger/verifications', {})
  await until(async () => {
    const { body } = await finance('GET', `/admin/v1/ledger/verifications/${verification}`)
    return Object(body).data.outcome === 'clean'
  })
  const refund = { currency: 'dollars', amount: '229.50', reason: 'The bank sent a transfer back' }
  const proposal = await dataOf(staff('ben'), '/admin/v1/users/1/credits', refund)

  const pool = openPool(database.serviceUrl, { max: 1, application_name: 'instances of a screenshot' }, opened.app.log)
  t.teardown(() => pool.end())
  for (const [host, role, sockets] of [
    ['economy-1', 'writer', 412],
    ['economy-2', 'forwarding', 389],
  ] as const) {
    const identity = { id: `00000000-0000-4000-8000-0000000000${host.slice(-1)}0`, host, pid: 7, version: '0.1.0' }
    await saveInstance(pool, identity, { role, queue: 0, position: proposal.id, sockets })
  }
  const light = { colorScheme: 'light', width: WIDTH } as const
  const dark = { colorScheme: 'dark', width: WIDTH } as const

  const ann = await signIn('ann', { look: light })
  await ann.open('/console')
  await shoot(ann, 'home.png', 940)

  await ann.open('/console/accounts/user:1:diamonds')
  await ann.page.locator('.chart canvas').waitFor()
  await shoot(ann, 'account.png', 1080)

  await ann.open(`/console/proposals/${proposal.id}`)
  await shoot(ann, 'proposal.png', 680)

  const draw = await newest('gift-drawn', '"decoration_id":3,.*"reward":[1-9]')
  await ann.open(`/console/draws/${draw}`)
  await shoot(ann, 'draw.png', 870, '.steps li:nth-child(4)')

  const night = await signIn('fay', { role: 'finance', look: dark })
  const gift = await newest('gift-sent', '"decoration_id":2,')
  await night.open(`/console/events/${gift}`)
  await night.page.getByText('Valid: this browser computed the stored hash').waitFor()
  await shoot(night, 'event.png', 1080)

  const fay = await signIn('fay', { role: 'finance', look: light })
  await fay.open(`/console/reports/${lastMonth}`)
  for (const step of ['Verify', 'Trial balance', 'House accounts', 'Open withdrawals', 'Exceptions']) {
    const part = fay.page.getByRole('listitem').filter({ has: fay.page.getByRole('heading', { name: step }) })
    await part.getByRole('button').click()
    await part.locator('.status.good').waitFor()
  }
  await fay.page.locator('.steps summary').nth(2).click()
  await fay.page.mouse.move(0, 0)
  await shoot(fay, 'closing.png', 1000, '#section-steps')
})
