import { test } from 'tap'
import { checkPage } from '../harness/browser/check-page.ts'
import { skipWithoutBrowser } from '../harness/browser/chromium.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openConsole } from './console-fixture.ts'

const skip = skipWithoutBrowser || onlyInFullRun

test('keys of the console', { skip }, async (t) => {
  const opened = await openConsole(t)
  for (let id = 1; id <= 60; id += 1)
    await opened.operator('PUT', `/admin/v1/users/${id}`, { name: `U${id}`, uid: `u${id}` })
  // Phones have no keys, and are shown none.
  const shown = await opened.signIn('ann', { look: { colorScheme: 'dark', width: 1280 } })
  const { page } = shown
  const dialog = page.getByRole('dialog', { name: 'Keys' })
  const choice = dialog.getByRole('checkbox', { name: 'Keyboard shortcuts' })
  const path = (): string => new URL(page.url()).pathname
  /** Presses keys that must do nothing. */
  const pressInVain = async (...keys: readonly string[]) => {
    const before = page.url()
    for (const key of keys) await page.keyboard.press(key)
    await page.waitForTimeout(500)
    t.equal(page.url(), before, keys.join(' '))
  }

  // The script shows them when it listens for keys.
  await page.locator('.keys:not([hidden])').first().waitFor({ state: 'attached' })
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.waitForURL('**/console/users')
  await page.keyboard.press('n')
  await page.waitForURL(/cursor=/)
  await page.keyboard.press('?')
  await dialog.waitFor()
  t.equal(await choice.isChecked(), true)
  await checkPage(t, shown)
  await pressInVain('g', 'h')
  await page.keyboard.press('?')
  await dialog.waitFor({ state: 'detached' })

  await page.keyboard.press('?')
  await choice.uncheck()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.goto('/console/users')
  await pressInVain('n', 'g', 'h')
  await page.keyboard.press('?')
  t.equal(await dialog.count(), 0)
  await page.keyboard.press('/')
  t.equal(await page.evaluate('document.activeElement === document.querySelector("#q")'), false)
  await checkPage(t, shown)

  await page.getByRole('button', { name: 'all keys' }).click()
  await choice.check()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.waitForLoadState('load')
  t.equal(path(), '/console')
  await page.keyboard.press('/')
  t.equal(await page.evaluate('document.activeElement === document.querySelector("#q")'), true)
})
